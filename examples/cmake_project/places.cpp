// Prints where the worker threads of a team run.

#include <iostream>

#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/topology.hpp"

int main() {
    using namespace ranvier::parallel;
    const Topology machine = Topology::detect();
    for (const Place& place : place_threads(machine, 2, parse_pinning("compact"))) {
        std::cout << "processor " << place.processor << ", NUMA node " << place.node << "\n";
    }
}
