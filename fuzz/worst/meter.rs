//! Measures the cost of an input: edges of the control flow, and 16-byte blocks copied or compared.
//!
//! The number is the same in every run. Callgrind, which counts instructions, judges the results of
//! the search.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the counter is written for x86-64 Linux");

// The compiler inserts a call of the first function at every edge; it changes no register. The
// others replace those of the C library.
core::arch::global_asm!(
    ".globl __sanitizer_cov_trace_pc, memcpy, memmove, memcmp, bcmp",
    "__sanitizer_cov_trace_pc:",
    "    incq worst_cost(%rip)",
    "    ret",
    "memcpy:",
    "memmove:",
    "    movq %rdi, %rax",
    "    movq %rdx, %rcx",
    "    shrq $4, %rcx",
    "    addq %rcx, worst_cost(%rip)",
    "    movq %rdx, %rcx",
    "    movq %rdi, %r8",
    "    subq %rsi, %r8",
    "    cmpq %rdx, %r8",
    "    jb 1f",
    "    rep movsb",
    "    ret",
    "1:  std",
    "    leaq -1(%rdi,%rdx), %rdi",
    "    leaq -1(%rsi,%rdx), %rsi",
    "    rep movsb",
    "    cld",
    "    ret",
    "memcmp:",
    "bcmp:",
    "    xorl %ecx, %ecx",
    "    xorl %eax, %eax",
    "2:  cmpq %rdx, %rcx",
    "    je 3f",
    "    movzbl (%rdi,%rcx), %eax",
    "    movzbl (%rsi,%rcx), %r8d",
    "    incq %rcx",
    "    subl %r8d, %eax",
    "    je 2b",
    "3:  shrq $4, %rcx",
    "    addq %rcx, worst_cost(%rip)",
    "    ret",
    ".bss",
    ".globl worst_cost",
    ".balign 8",
    "worst_cost: .skip 8",
    ".text",
    options(att_syntax)
);

unsafe extern "C" {
    static worst_cost: u64;
}

/// The cost so far.
fn total() -> u64 {
    // SAFETY: an aligned word in this program, written only by the code above, on one thread.
    unsafe { std::ptr::read_volatile(&raw const worst_cost) }
}

/// The kind of cost to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Edges and blocks.
    Work,
    /// The maximum number of bytes on the heap at one time.
    Memory,
}

impl Cost {
    pub fn of(self, work: impl FnOnce()) -> u64 {
        match self {
            Self::Work => {
                let before = total();
                work();
                total() - before
            }
            Self::Memory => allocation_counter::measure(work).bytes_max,
        }
    }
}
