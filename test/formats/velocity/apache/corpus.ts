/**
 * Templates for comparing Apache's engines with ours, and the recorded outputs of Apache's: lines of recorded.ndjson.
 * To add a template, append a line `{"template":"$name"}`, and record it with record.ts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `both`: where the versions print the same; `!parse` and `!run`: how an engine fails. */
export interface Recorded {
  readonly template: string
  readonly both?: string
  readonly '1.7'?: string
  readonly '2.4'?: string
}

export const RECORDS = join(import.meta.dirname, 'recorded.ndjson')

export const CORPUS = readFileSync(RECORDS, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded)

/** The variables of every template in the corpus. */
export const DATA = {
  name: 'Bob',
  n: 5,
  one: 1,
  zero: 0,
  neg: -7,
  int: 2147483647,
  long: 9007199254740991,
  d: 2.5,
  tiny: 0.0001,
  huge: 123456789.125,
  s: 'Hello World',
  num: '42',
  blank: ' ',
  empty: '',
  yes: true,
  no: false,
  nil: null,
  list: [3, 1, 2],
  strs: ['a', 'b', 'c'],
  none: [],
  map: { a: 1, b: 'two', c: [1, 2] },
  bare: {},
  deep: { a: { b: { c: 'deep' } } },
  odd: { 'odd-key': 1, 'with space': 2, 'dotted.key': 3, size: 4, empty: 5 },
  readings: [
    { id: 'r1', value: 21.5, tags: ['x', 'y'] },
    { id: 'r2', value: 22, tags: [] },
    { id: 'r3', value: null, tags: ['z'] },
  ],
  holes: [1, null, 'x'],
  matrix: [
    [1, 2],
    [3, 4],
  ],
} as const
