#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "ranvier/connect/space/mask.hpp"

namespace ranvier::bindings {

namespace {

using connect::Mask;
using connect::Point;

/// One number for each dimension.
using InputCoordinates = std::vector<double>;
using InputDisplacements = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Point to_point_of(const InputCoordinates& numbers) {
    Point point{};
    std::copy_n(numbers.begin(), std::min(numbers.size(), point.size()), point.begin());
    return point;
}

Mask::Rotation to_rotation(const std::vector<InputCoordinates>& axes) {
    Mask::Rotation rotation = Mask::unrotated;
    for (std::size_t axis = 0; axis < std::min(axes.size(), rotation.size()); ++axis) {
        rotation[axis] = to_point_of(axes[axis]);
    }
    return rotation;
}

OutputArray<bool> contains(const Mask& self, const InputDisplacements& displacements) {
    const std::size_t count = displacements.shape(0);
    const std::size_t dimensions = displacements.shape(1);
    auto owner = std::make_unique<bool[]>(count);
    for (std::size_t i = 0; i < count; ++i) {
        Point at{};
        std::copy_n(displacements.data() + i * dimensions, std::min(dimensions, at.size()), at.begin());
        owner[i] = self.contains(at);
    }
    bool* const data = owner.release();
    const nb::capsule capsule(data, [](void* pointer) noexcept { delete[] static_cast<bool*>(pointer); });
    return OutputArray<bool>(data, {count}, capsule);
}

}  // namespace

void bind_masks(nb::module_& module) {
    nb::class_<Mask>(module, "Mask", "A region of displacements, target minus source.")
        .def_static(
            "ellipsoid",
            [](const InputCoordinates& center, const InputCoordinates& semiaxes,
               const std::vector<InputCoordinates>& axes) {
                return Mask::ellipsoid(static_cast<unsigned>(center.size()), to_point_of(center), to_point_of(semiaxes),
                                       to_rotation(axes));
            },
            nb::arg("center"), nb::arg("semiaxes"), nb::arg("axes"),
            "An ellipse or an ellipsoid; `axes` are unit vectors along its axes, none without a rotation.")
        .def_static(
            "box",
            [](const InputCoordinates& lower, const InputCoordinates& upper,
               const std::vector<InputCoordinates>& axes) {
                return Mask::box(static_cast<unsigned>(lower.size()), to_point_of(lower), to_point_of(upper),
                                 to_rotation(axes));
            },
            nb::arg("lower"), nb::arg("upper"), nb::arg("axes"), "A rectangle or a box, turned about its center.")
        .def_static(
            "combined",
            [](std::string_view operation, const std::shared_ptr<const Mask>& first,
               const std::shared_ptr<const Mask>& second) {
                const Mask::Kind kind = operation == "&"   ? Mask::Kind::both
                                        : operation == "|" ? Mask::Kind::either
                                                           : Mask::Kind::without;
                return Mask::combined(kind, first, second);
            },
            nb::arg("operation"), nb::arg("first"), nb::arg("second"), "Two regions, joined by &, | or -.")
        .def("contains", contains, nb::arg("displacements"), "Whether displacements, one row each, are in the region.");
}

}  // namespace ranvier::bindings
