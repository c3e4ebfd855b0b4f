/** Exports what a thread needs to run rules without outside effects. */
export { historyBehind } from './rehearsals/rehearsal-history.ts'
export type { RehearsedCalls } from './rehearsals/rehearsal-run.ts'
export { type DirectRuns, runsHere } from './tools/direct-runs.ts'
