/** How values of a rule come into the sandbox: as JSON beside the code, and never as a part of it. */
import type { LogicPath } from '../logic/run.ts'

/** A value as it is handed in: JSON has neither undefined nor NaN, so there it is an empty list or a text. */
export type HandedIn = readonly [] | readonly [value: unknown] | readonly [nothing: null, number: string]

export function valuesOf(uses: readonly LogicPath[], lookup: (path: LogicPath) => unknown): readonly HandedIn[] {
  return uses.map((path) => {
    const value = lookup(path)
    if (value === undefined) return []
    return typeof value === 'number' && !Number.isFinite(value) ? [null, String(value)] : [value]
  })
}

/** A function for what stands in a quoted text, as code of the sandbox; it wants a `lack` for what is missing. */
export function textCode(suffix: string): string {
  return `const text${suffix} = (value, name, optional) => {
    if (value === undefined) return optional ? '' : lack${suffix}(name)
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
  }`
}
