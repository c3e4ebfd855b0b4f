/** Defines where output goes: into text, or into the value of its JSON. */
import type { Reference, Statement } from '../syntax/nodes.ts'
import { numberText } from '../values/numbers.ts'
import { textOf } from '../values/text.ts'
import { DefinedBlock, type Eval, type Exec } from './run.ts'

export interface Writing {
  check(statement: Statement): void
  text(text: string): Exec
  /** `lead`: the preceding text, which is written too. `slashes` and `dollars`: characters after that text */
  output(lead: string, get: Eval, reference: Reference, slashes: number, dollars: string): Exec
  branch(make: () => Exec): Exec
  macroName(name: string): string
}

export const TEXT_WRITING: Writing = {
  check() {},
  text: (text) => (run) => run.write(text),
  output(lead, get, { source, isQuiet }, slashes, dollars) {
    if (slashes % 2 === 1) {
      const half = '\\'.repeat((slashes - 1) / 2)
      return (run) => {
        run.write(lead)
        run.write(get(run) === null ? `${half}\\${source}` : half + source)
      }
    }
    const before = '\\'.repeat(slashes / 2)
    const missing = isQuiet ? '' : source
    return (run) => {
      run.write(lead)
      const value = get(run)
      if (before === '') {
        if (typeof value === 'string') return run.write(value)
        if (typeof value === 'number') return run.write(numberText(value))
      }
      if (value instanceof DefinedBlock && value.render(run)) return
      const text = textOf(value, run)
      if (text === null) run.write(before + before + dollars + (run.context.written(missing) ?? missing))
      else run.write(before === '' ? text : before + dollars + text)
    }
  },
  branch: (make) => make(),
  macroName: (name) => name,
}
