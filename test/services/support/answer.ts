/** Reads a response of unknown shape. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  /** Parsed value if the response is JSON, otherwise its text */
  readonly body: unknown
  /** Returns a part of the body, as `got` does */
  at(path: string): unknown
}

/** Returns the part of a value at a path such as `network.sensors.0.label`; undefined if it is missing. */
export function got(value: unknown, path: string): unknown {
  let part: unknown = value
  for (const key of path.split('.')) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return undefined
    part = (part as Readonly<Record<string, unknown>>)[key]
  }
  return part
}

/** Returns one field of each item in a list. */
export function pluck(list: unknown, path: string): readonly unknown[] {
  return listOf(list).map((item) => got(item, path))
}

export function listOf(list: unknown): readonly unknown[] {
  if (Array.isArray(list)) return list as readonly unknown[]
  throw new Error(`not a list: ${JSON.stringify(list)}`)
}

/** Returns a value that must be text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error(`not text: ${JSON.stringify(value)}`)
}
