#pragma once

/// What the kernels need of a machine. Kernels are compiled twice: by NVRTC for a GPU, and by the compiler of the core for
/// the emulator. So they include no headers of the standard library.
#if defined(__CUDACC__)
#define RANVIER_DEVICE __device__ __forceinline__
/// A function that is called from many places.
#define RANVIER_DEVICE_CALL __device__ __noinline__
/// Arrays that are indexed by the counter of the loop that follows then become registers.
#define RANVIER_UNROLL _Pragma("unroll")
#else
#define RANVIER_DEVICE inline
#define RANVIER_DEVICE_CALL inline
#define RANVIER_UNROLL
#endif

namespace ranvier::device {

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i32 = int;
using i64 = long long;

inline constexpr u32 warp_size = 32;

/// Bits of the absolute value, which have the same order.
RANVIER_DEVICE u32 absolute_bits(float number) { return __builtin_bit_cast(u32, number) & 0x7FFFFFFFU; }

/// The spikes of a block in a step. Blocks wait for the record of a step, so it is message and barrier in one: it is
/// written and read at once.
struct alignas(16) Record {
    /// Neurons that the record itself has room for.
    static constexpr u32 room = 5;
    static constexpr u16 stop = 0x8000;

    u32 step = 0;  ///< its lower half
    u16 count = 0;  ///< of spikes, and whether the block asks all to stop after this epoch
    u16 neurons[room] = {};  ///< of the block
};
static_assert(sizeof(Record) == 16);

// What the threads of a block do to memory that they share with each other or with other blocks. In the emulator, one
// thread does all.
#if defined(__CUDACC__)
/// Adds, and returns the number before.
RANVIER_DEVICE u32 fetch_add(u32* to, u32 number) { return atomicAdd(to, number); }
RANVIER_DEVICE void add(i64* to, i64 number) { atomicAdd(reinterpret_cast<u64*>(to), static_cast<u64>(number)); }
RANVIER_DEVICE void add(u64* to, u64 number) { atomicAdd(to, number); }
RANVIER_DEVICE u64 fetch_add(u64* to, u64 number) { return atomicAdd(to, number); }
RANVIER_DEVICE void lower(u32* to, u32 number) { atomicMin(to, number); }
RANVIER_DEVICE void lower(u64* to, u64 number) { atomicMin(to, number); }
/// Takes the greater number. Reading first is faster, since the greatest is soon there.
RANVIER_DEVICE void raise(u32* to, u32 number) {
    if (*reinterpret_cast<const volatile u32*>(to) < number) atomicMax(to, number);
}
RANVIER_DEVICE void raise(u64* to, u64 number) { atomicMax(to, number); }
/// Before a record is written: everything that the threads of the block have written until a barrier is seen by whoever has
/// seen the record.
RANVIER_DEVICE void release() { __threadfence(); }
RANVIER_DEVICE void publish(Record* to, const Record& record) {
    const u16* const n = record.neurons;
    const u64 low = record.step | u64{record.count} << 32 | u64{n[0]} << 48;
    const u64 high = n[1] | u64{n[2]} << 16 | u64{n[3]} << 32 | u64{n[4]} << 48;
    // A number of 128 bits is written and read at once; of a vector, only each element is.
    asm volatile("{ .reg .b128 all; mov.b128 all, {%1, %2}; st.relaxed.gpu.global.b128 [%0], all; }"
                 :
                 : "l"(to), "l"(low), "l"(high)
                 : "memory");
}
RANVIER_DEVICE Record read(const Record* from) {
    u64 low;
    u64 high;
    asm volatile("{ .reg .b128 all; ld.relaxed.gpu.global.b128 all, [%2]; mov.b128 {%0, %1}, all; }"
                 : "=l"(low), "=l"(high)
                 : "l"(from)
                 : "memory");
    return {static_cast<u32>(low),
            static_cast<u16>(low >> 32),
            {static_cast<u16>(low >> 48), static_cast<u16>(high), static_cast<u16>(high >> 16),
             static_cast<u16>(high >> 32), static_cast<u16>(high >> 48)}};
}
/// After a record was seen, before what was written before it is read.
RANVIER_DEVICE void acquire() { __threadfence(); }
RANVIER_DEVICE u16 read_list(const u16* from) { return __ldcg(from); }
RANVIER_DEVICE u32 read_flag(const u32* from) { return *reinterpret_cast<const volatile u32*>(from); }
RANVIER_DEVICE void set_bits(u32* of, u32 bits) { atomicOr(of, bits); }
RANVIER_DEVICE void clear_bits(u32* of, u32 bits) { atomicAnd(of, ~bits); }
/// Sums that others add to are in the second cache.
RANVIER_DEVICE i64 read_sum(const i64* from) { return __ldcg(from); }
RANVIER_DEVICE void write_sum(i64* to, i64 sum) { __stcg(to, sum); }
/// Of 32 bytes that nobody writes during a run.
RANVIER_DEVICE void read_words(const u32* from, u32* words) {
    const uint4 first = __ldg(reinterpret_cast<const uint4*>(from));
    const uint4 second = __ldg(reinterpret_cast<const uint4*>(from) + 1);
    words[0] = first.x;
    words[1] = first.y;
    words[2] = first.z;
    words[3] = first.w;
    words[4] = second.x;
    words[5] = second.y;
    words[6] = second.z;
    words[7] = second.w;
}
RANVIER_DEVICE u32 sum_of_bytes(u32 bytes) { return __dp4a(bytes, 0x01010101U, 0U); }
/// What will be read soon comes to the second cache.
RANVIER_DEVICE void prefetch(const void* from) { asm volatile("prefetch.global.L2 [%0];" : : "l"(from)); }
#else
RANVIER_DEVICE u32 fetch_add(u32* to, u32 number) {
    const u32 before = *to;
    *to = before + number;
    return before;
}
RANVIER_DEVICE void add(i64* to, i64 number) { *to += number; }
RANVIER_DEVICE void add(u64* to, u64 number) { *to += number; }
RANVIER_DEVICE u64 fetch_add(u64* to, u64 number) {
    const u64 before = *to;
    *to = before + number;
    return before;
}
RANVIER_DEVICE void lower(u32* to, u32 number) { *to = number < *to ? number : *to; }
RANVIER_DEVICE void lower(u64* to, u64 number) { *to = number < *to ? number : *to; }
RANVIER_DEVICE void raise(u32* to, u32 number) {
    if (*to < number) *to = number;
}
RANVIER_DEVICE void raise(u64* to, u64 number) {
    if (*to < number) *to = number;
}
RANVIER_DEVICE void release() {}
RANVIER_DEVICE void publish(Record* to, const Record& record) { *to = record; }
RANVIER_DEVICE Record read(const Record* from) { return *from; }
RANVIER_DEVICE void acquire() {}
RANVIER_DEVICE u16 read_list(const u16* from) { return *from; }
RANVIER_DEVICE u32 read_flag(const u32* from) { return __atomic_load_n(from, __ATOMIC_RELAXED); }
RANVIER_DEVICE void set_bits(u32* of, u32 bits) { *of |= bits; }
RANVIER_DEVICE void clear_bits(u32* of, u32 bits) { *of &= ~bits; }
RANVIER_DEVICE i64 read_sum(const i64* from) { return *from; }
RANVIER_DEVICE void write_sum(i64* to, i64 sum) { *to = sum; }
RANVIER_DEVICE void read_words(const u32* from, u32* words) {
    for (u32 i = 0; i < 8; ++i) words[i] = from[i];
}
RANVIER_DEVICE u32 sum_of_bytes(u32 bytes) {
    return (bytes & 0xFF) + (bytes >> 8 & 0xFF) + (bytes >> 16 & 0xFF) + (bytes >> 24);
}
RANVIER_DEVICE void prefetch(const void*) {}
#endif

/// Adds to a sum whose halves are apart: in shared memory, two additions of 32 bits are faster than one of 64, and the upper
/// half seldom changes. All carries have been added when all threads have.
RANVIER_DEVICE void add_halves(u32* low, u32* high, i64 number) {
    const u32 low_part = static_cast<u32>(number);
    const u32 before = fetch_add(low, low_part);
    const u32 carry = before + low_part < low_part ? 1U : 0U;
    const u32 high_part = static_cast<u32>(static_cast<u64>(number) >> 32) + carry;
    if (high_part != 0) fetch_add(high, high_part);
}

}  // namespace ranvier::device
