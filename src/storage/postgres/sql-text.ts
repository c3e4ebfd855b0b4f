/** Helpers for SQL text. Input is always a parameter; only validated names and numbers become text. */

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Formats a text[] value as a literal, since lists inside an array parameter would be flattened. */
export function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** Collects the parameters of one statement; `add` returns the placeholder with its type. */
export class Bindings {
  readonly values: unknown[] = []

  add(value: unknown, type: string): string {
    return `$${this.values.push(value)}::${type}`
  }
}
