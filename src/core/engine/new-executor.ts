/** Chooses the executor of an engine; no other file names both executors. */
import { ColumnarExecutor } from '../columnar/columnar-executor.ts'
import type { Executor, ExecutorHost } from './executor.ts'
import { PlainExecutor } from './plain-executor.ts'

export function newExecutor(host: ExecutorHost): Executor {
  const { asksForCalls, generate } = host
  return asksForCalls || generate === undefined ? new PlainExecutor() : new ColumnarExecutor(host, generate)
}
