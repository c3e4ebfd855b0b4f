/** Exports internals of the benchmark to the command line. */
export { ENTRY } from './bench-process-handle.ts'
export { git } from './machine.ts'
export { checkOut, type OtherCheckout } from './other-checkout.ts'
export { LISTENS } from './request.ts'
