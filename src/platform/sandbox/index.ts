/** Runs untrusted programs in confined processes. */
export { closedNetworkProblem, PROXY } from './closed-network.ts'
export { inspectMachine, type Machine } from './inspect-machine.ts'
export { confinedTools, type LaunchTool } from './launch-tool.ts'
export { DEFAULT_LIMITS, type ProcessLimits } from './limits.ts'
export { type PoolOptions, ProcessPool } from './process-pool.ts'
export type { Interpreter, Program, ProgramLine } from './program.ts'
export { openRegistryProxy, originOf, type RegistryProxy } from './registry-proxy.ts'
export type { CallFailure } from './sandbox-process.ts'
