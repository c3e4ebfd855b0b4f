/** Pieces of SQL text. Whatever a caller says travels as a parameter; only names and numbers of ours are written out. */

/** A name as SQL reads it, whatever is in it. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A value of type text[] as the server reads it; where several lie in one array, that one would be flattened. */
export function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** What is bound to one statement: `add` gives the text that stands for the value, with its type. */
export class Bindings {
  readonly values: unknown[] = []

  add(value: unknown, type: string): string {
    return `$${this.values.push(value)}::${type}`
  }
}
