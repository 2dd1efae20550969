/* Wine before 8.20 lacks the library with which Rust's standard library draws random numbers. It is built for the
 * tests under Wine alone: .ci/run platforms. */
#include <windows.h>

/* What advapi32 calls RtlGenRandom. */
BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length)
{
    return SystemFunction036(bytes, (ULONG)length);
}
