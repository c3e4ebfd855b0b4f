/** Exports the engine whose time follows its inputs, for code that keeps these inputs in a log of its own. */
export {
  type EndOfRun,
  DeterministicEngine,
  type EngineHooks,
  type EngineSettings,
} from './durable/deterministic-engine.ts'
export type { TaskStateRecord } from './durable/deterministic-engine.ts'
export { plain } from './durable/input.ts'
export { asCalled, callKey } from './durable/recovery.ts'
export type { RunnableTask } from './runner.ts'
