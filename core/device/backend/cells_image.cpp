#include "device/backend/cells_image.hpp"

namespace ranvier::device {

PlacedCells place_cells(const CellsImage& image, u64 address, const double* rates) {
    PlacedCells placed;
    if (image.empty()) return placed;
    Packer packer(address);
    const auto array = [&]<class Element>(const std::vector<Element>& elements) {
        return packer.address<Element>(packer.add<Element>(elements));
    };
    const auto room = [&](std::size_t count) { return packer.address<double>(packer.add_room<double>(count)); };
    placed.cells = {.node_count = static_cast<u32>(image.nodes.size()),
                    .level_count = static_cast<u32>(image.level_begins.size() - 1),
                    .level_begins = array(image.level_begins),
                    .nodes = array(image.nodes),
                    .children = array(image.children),
                    .kinds = array(image.kinds),
                    .classes_of_kinds = array(image.classes_of_kinds),
                    .classes = array(image.classes),
                    .currents = array(image.currents),
                    .exact_gates = array(image.exact_gates),
                    .pools = array(image.pools),
                    .receptors = array(image.receptors),
                    .sites = array(image.sites),
                    .electrodes = array(image.electrodes),
                    .mechanisms = array(image.mechanisms),
                    .places = array(image.places),
                    .cells = array(image.cells),
                    .sites_of_groups = array(image.sites_of_groups),
                    .numbers = array(image.numbers),
                    .rates = rates,
                    .potential = room(image.nodes.size()),
                    .diagonal = room(image.nodes.size()),
                    .current = room(image.nodes.size()),
                    .states = room(image.states)};
    placed.bytes = packer.finish();
    return placed;
}

}  // namespace ranvier::device
