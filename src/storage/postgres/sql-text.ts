/** Helpers for SQL text. Input is always a parameter; only validated names and numbers are part of the text. */

/** A quoted identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A value of type text[] as a literal; lists within an array parameter would be flattened. */
export function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** Parameters of one statement: `add` returns the placeholder with its type. */
export class Bindings {
  readonly values: unknown[] = []

  add(value: unknown, type: string): string {
    return `$${this.values.push(value)}::${type}`
  }
}
