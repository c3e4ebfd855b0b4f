/** What both sides of the storage bench write: tasks of 1 KB with random ids, messages of three members, samples. */
export interface Task {
  readonly status: string
  readonly template: string
  readonly name: string
  readonly tags: readonly string[]
  readonly created: number
  readonly settings: string
}

/** of which a page is listed */
export const DOCUMENTS = 100_000
/** that are written again, or read by id */
export const KNOWN = 20_000
/** epoch ms */
export const SERIES_START = 1_700_000_000_000
/** ms */
export const HOUR = 3_600_000

export const WINDOW = Array.from({ length: 256 }, (_, i) => ({ resource: `r${i}`, temperature: i / 8, humidity: 60 }))

/** In an order as random as that of a UUID. */
export function idOf(n: number): string {
  const part = (Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')
  return `${part}-7f3a-4c01-9b7e-${part}52d1`
}

export function documentOf(n: number): Task {
  return {
    status: n % 2 === 0 ? 'running' : 'stopped',
    template: `template-${n % 7}`,
    name: `task ${n % DOCUMENTS}`,
    tags: [`site-${n % 40}`],
    created: SERIES_START + (n % DOCUMENTS),
    settings: 'x'.repeat(850),
  }
}
