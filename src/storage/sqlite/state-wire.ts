/** Encodes units and results for threads as a few flat lists, because copying objects costs more than writing them. */
import type { Expectation } from '../contract.ts'
import type { SqlValue } from './database.ts'
import type { LogChunk, StateAnswer, StateJob, StateWrite } from './state-jobs.ts'

/** Flat lists, which are read in the order in which they were written. */
export interface StateWire {
  readonly numbers: readonly number[]
  readonly texts: readonly string[]
  readonly fields: readonly SqlValue[]
  readonly others: readonly StateJob[]
}

export interface StateAnswers {
  readonly numbers: readonly number[]
  readonly texts: readonly string[]
  readonly others: readonly StateAnswer[]
}

const [APPEND, PUT, DELETE, EXPECT] = [0, 1, 2, 3] as const
/** stands in place of the number of writes or results */
const RARE = -1
const ANY = -1
const ABSENT = 0

export function packJobs(jobs: readonly StateJob[]): StateWire {
  const numbers: number[] = []
  const texts: string[] = []
  const fields: SqlValue[] = []
  const others: StateJob[] = []
  for (const job of jobs) {
    if (job.kind !== 'commit') {
      numbers.push(RARE)
      others.push(job)
      continue
    }
    numbers.push(job.writes.length)
    texts.push(job.tenant)
    for (const write of job.writes) {
      if (write.kind === 'append') {
        numbers.push(APPEND, write.chunks.length)
        texts.push(write.log)
        for (const { count, bodies } of write.chunks) {
          numbers.push(count)
          texts.push(bodies)
        }
        continue
      }
      if (write.kind === 'expect') {
        numbers.push(EXPECT, write.expect)
        texts.push(write.collection, write.id)
        continue
      }
      const { collection, id, expect, needsPrevious } = write
      const isPut = write.kind === 'put'
      numbers.push(isPut ? PUT : DELETE, numberOf(expect), Number(needsPrevious))
      texts.push(collection, id)
      if (!isPut) continue
      texts.push(write.body)
      numbers.push(write.fields.length)
      for (const value of write.fields) fields.push(value)
    }
  }
  return { numbers, texts, fields, others }
}

export function unpackJobs({ numbers, texts, fields, others }: StateWire): readonly StateJob[] {
  const number = reading(numbers)
  const text = reading(texts)
  const field = reading(fields)
  const other = reading(others)
  const writeOf = (): StateWrite => {
    const kind = number()
    if (kind === APPEND) {
      const log = text()
      const chunks = times(number(), (): LogChunk => ({ count: number(), bodies: text() }))
      return { kind: 'append', log, chunks }
    }
    if (kind === EXPECT) return { kind: 'expect', expect: number(), collection: text(), id: text() }
    const [expect, needsPrevious, collection, id] = [expectationOf(number()), number() === 1, text(), text()]
    if (kind === DELETE) return { kind: 'delete', collection, id, expect, needsPrevious }
    return { kind: 'put', collection, id, expect, needsPrevious, body: text(), fields: times(number(), field) }
  }
  const jobs: StateJob[] = []
  for (let left = numbers.length; left > 0; left = number.left()) {
    const writes = number()
    jobs.push(writes === RARE ? other() : { kind: 'commit', tenant: text(), writes: times(writes, writeOf) })
  }
  return jobs
}

export function packAnswers(answers: readonly StateAnswer[]): StateAnswers {
  const numbers: number[] = []
  const texts: string[] = []
  const others: StateAnswer[] = []
  for (const answer of answers) {
    if (!('results' in answer) || answer.previous.length > 0) {
      numbers.push(RARE)
      others.push(answer)
      continue
    }
    numbers.push(answer.results.length, answer.changed.length)
    for (const result of answer.results) numbers.push(result)
    for (const name of answer.changed) texts.push(name)
  }
  return { numbers, texts, others }
}

export function unpackAnswers({ numbers, texts, others }: StateAnswers): readonly StateAnswer[] {
  const number = reading(numbers)
  const text = reading(texts)
  const other = reading(others)
  const answers: StateAnswer[] = []
  for (let left = numbers.length; left > 0; left = number.left()) {
    const results = number()
    if (results === RARE) {
      answers.push(other())
      continue
    }
    const changed = number()
    answers.push({ results: times(results, number), changed: times(changed, text), previous: [] })
  }
  return answers
}

interface Reading<Item> {
  (): Item
  left(): number
}

function reading<Item>(list: readonly Item[]): Reading<Item> {
  let at = 0
  const next = (): Item => {
    if (at >= list.length) throw new Error('the message of the other thread is incomplete')
    // the index is below the length, so the item exists; it may itself be null
    return list[at++] as Item
  }
  return Object.assign(next, { left: () => list.length - at })
}

function times<Item>(count: number, next: () => Item): Item[] {
  const items: Item[] = []
  for (let i = 0; i < count; i += 1) items.push(next())
  return items
}

function numberOf(expect: Expectation): number {
  return expect === 'any' ? ANY : expect === 'absent' ? ABSENT : expect
}

function expectationOf(number: number): Expectation {
  return number === ANY ? 'any' : number === ABSENT ? 'absent' : number
}
