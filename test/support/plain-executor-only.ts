/** Replaces src/core/engine/new-executor.ts when tests run without columnar execution (EXECUTOR=plain). */
import { PlainExecutor } from '../../src/core/engine/plain-executor.ts'

export function newExecutor(): PlainExecutor {
  return new PlainExecutor()
}
