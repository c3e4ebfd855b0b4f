/** Runs scripts of this process in threads. */
import type { Interpreter } from '#core/sandbox'
import { AppError } from '#kernel'
import { scriptBegins } from '#services/rules'
import type { WorkThreads } from './work-threads.ts'

/** Time limit in ms; an interpreter stops by itself after a second, unless a single step takes longer than that */
const LONGEST_MS = 10_000

/**
 * Creates the interpreter. It rejects with `TOO_LARGE` also for a script that had to be terminated, and with `CLOSED`
 * when the threads are closed.
 */
export function scriptInterpreter(threads: WorkThreads): Interpreter {
  return {
    async answer(code, input) {
      const over = scriptBegins()
      let ms = 0
      const took = (of: number): void => void (ms = of)
      try {
        const work = { tenant: undefined, name: 'script', input: { code, input }, limitMs: LONGEST_MS, took } as const
        return (await threads.do(work)) as string
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'TIMED_OUT') throw error
        throw new AppError('TOO_LARGE', 'the script was stopped, because it takes too many steps', { cause: error })
      } finally {
        over(ms)
      }
    },
  }
}
