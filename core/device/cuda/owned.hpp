#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "device/cuda/driver.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/kernel/machine.hpp"

/// Owners of what the driver gives: contexts, streams, memory, modules.
namespace ranvier::device {

/// The primary context of a device, which other libraries of the process share.
class Context {
   public:
    Context(std::shared_ptr<const Driver> driver, int number) : driver_(std::move(driver)) {
        const DriverFunctions& functions = driver_->functions();
        driver_->check(functions.device_get(&device_, number), "finding the device");
        driver_->check(functions.primary_context_retain(&context_, device_), "making a context");
    }
    ~Context() { driver_->functions().primary_context_release(device_); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const Driver& driver() const { return *driver_; }
    const DriverFunctions& functions() const { return driver_->functions(); }
    void check(int error, std::string_view what) const { driver_->check(error, what); }

    std::string name() const {
        std::array<char, 256> name{};
        check(functions().device_get_name(name.data(), static_cast<int>(name.size()) - 1, device_),
              "reading the name of the device");
        return name.data();
    }
    DeviceIdentity identity() const {
        DeviceIdentity identity{};
        check(functions().device_get_uuid(identity.data(), device_), "identifying the device");
        return identity;
    }
    int attribute(DeviceAttribute attribute) const {
        int value = 0;
        check(functions().device_get_attribute(&value, static_cast<int>(attribute), device_),
              "reading an attribute of the device");
        return value;
    }
    void* handle() const { return context_; }

   private:
    std::shared_ptr<const Driver> driver_;
    int device_ = 0;
    void* context_ = nullptr;
};

/// Makes a context that of this thread during its lifetime.
class ContextUse {
   public:
    explicit ContextUse(const Context& context) : context_(context) {
        context.check(context.functions().context_push(context.handle()), "entering the context");
    }
    ~ContextUse() {
        void* popped = nullptr;
        context_.functions().context_pop(&popped);
    }
    ContextUse(const ContextUse&) = delete;
    ContextUse& operator=(const ContextUse&) = delete;

   private:
    const Context& context_;
};

// These are made and destroyed while their context is that of the thread. What fails when they are destroyed has failed
// before.

class Stream {
   public:
    explicit Stream(const Context& context) : context_(context) {
        context.check(context.functions().stream_create(&stream_, non_blocking), "making a stream");
    }
    ~Stream() { context_.functions().stream_destroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    void* handle() const { return stream_; }
    void wait(std::string_view what) const { context_.check(context_.functions().stream_synchronize(stream_), what); }

   private:
    static constexpr unsigned non_blocking = 1;  // CU_STREAM_NON_BLOCKING

    const Context& context_;
    void* stream_ = nullptr;
};

class DeviceMemory {
   public:
    DeviceMemory(const Context& context, u64 bytes, std::string_view what) : context_(context), bytes_(bytes) {
        // There are no allocations of 0 bytes.
        context.check(context.functions().memory_allocate(&address_, std::max<u64>(bytes, 1)), what);
    }
    ~DeviceMemory() { context_.functions().memory_free(address_); }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    u64 address() const { return address_; }
    u64 bytes() const { return bytes_; }

   private:
    const Context& context_;
    u64 bytes_;
    std::uint64_t address_ = 0;
};

/// A number of the host that a copy to the device may read at any time.
class PinnedNumber {
   public:
    explicit PinnedNumber(const Context& context) : context_(context) {
        void* memory = nullptr;
        context.check(context.functions().host_allocate(&memory, sizeof(u32), 0), "allocating memory of the host");
        number_ = static_cast<u32*>(memory);
    }
    ~PinnedNumber() { context_.functions().host_free(number_); }
    PinnedNumber(const PinnedNumber&) = delete;
    PinnedNumber& operator=(const PinnedNumber&) = delete;

    u32* get() const { return number_; }

   private:
    const Context& context_;
    u32* number_ = nullptr;
};

class Module {
   public:
    /// @param name of the kernel
    Module(const Context& context, const CompiledKernel& kernel, const char* name) : context_(context) {
        context.check(context.functions().module_load_data(&module_, kernel.code.data()), "loading the kernels");
        bytes_ = kernel.code.size();
        // The constructor may still fail, and then there is no destructor.
        if (const int error = context.functions().module_get_function(&kernel_, module_, name); error != 0) {
            context.functions().module_unload(module_);
            context.check(error, "finding the kernel");
        }
    }
    ~Module() { context_.functions().module_unload(module_); }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    void* kernel() const { return kernel_; }
    /// Of its code.
    u64 bytes() const { return bytes_; }
    int attribute(FunctionAttribute attribute) const {
        int value = 0;
        context_.check(context_.functions().function_get_attribute(&value, static_cast<int>(attribute), kernel_),
                       "reading an attribute of the kernel");
        return value;
    }

   private:
    const Context& context_;
    u64 bytes_ = 0;
    void* module_ = nullptr;
    void* kernel_ = nullptr;
};

}  // namespace ranvier::device
