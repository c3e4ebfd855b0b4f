/** Loads the handlers of each kind of work on demand. */
import type { Interpreter } from '#core/sandbox'
import { machineTimers } from '#platform'
import type { WorkHandler, WorkHandlers, RulesWork, WorkName } from './work-inputs.ts'
import type { WorkThreadData } from './work-messages.ts'

/**
 * Returns a function that finds the handler for a kind of work. Interpreters and compiled templates are reused across
 * runs.
 */
export function workKinds(data: WorkThreadData): (name: WorkName) => Promise<WorkHandler<unknown>> {
  const clock = machineTimers.elapsed
  const interpreter = once(async (): Promise<Interpreter> => {
    const { LocalInterpreter } = await import('#core/sandbox')
    return new LocalInterpreter(data.onlyCounted ? undefined : clock)
  })
  const scripts = async (): Promise<WorkHandlers<'script'>> => {
    const own = await interpreter()
    return { script: ({ code, input }) => own.answer(code, input) }
  }
  const conversions = once(async (): Promise<WorkHandlers<'convert' | 'test' | 'prepare'>> => {
    const { Conversions } = await import('#services/converter/conversion')
    const own = new Conversions(clock)
    return {
      convert: (work) => own.work(work),
      test: ({ text }) => own.testWork(text),
      prepare: (converter) => void own.prepare(converter),
    }
  })
  const proofs = async (): Promise<WorkHandlers<'prove'>> => {
    const { prove } = await import('#mcp/prove')
    return { prove }
  }
  const rules = once(async (): Promise<RulesWork> => {
    const { rulesWork } = await import('./rules-work.ts')
    return rulesWork(data, await interpreter())
  })
  return async (name) => {
    const kinds: Partial<WorkHandlers<WorkName>> =
      name === 'script'
        ? await scripts()
        : name === 'convert' || name === 'test' || name === 'prepare'
          ? await conversions()
          : name === 'prove'
            ? await proofs()
            : await rules()
    return kinds[name] as WorkHandler<unknown>
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
