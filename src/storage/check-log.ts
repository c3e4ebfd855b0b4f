/** Checks queries of a log. All checks throw `VALIDATION` or `TOO_LARGE`. */
import { checkName, checkWhole } from './check-text.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from './limits.ts'
import { checkPartition } from './prepare-writes.ts'
import { Problems } from './problems.ts'

const POSITION = { min: 0, max: Number.MAX_SAFE_INTEGER }

export function checkLogName(name: string): void {
  const problems = new Problems()
  checkName(name, '/name', 'a log', problems)
  problems.throwIfAny('The log')
}

/** `after`: the position to read after, or to trim up to. Returns the effective limit. */
export function checkLogQuestion(log: string, partition: number, after = 0, limit = DEFAULT_LIMIT): number {
  const problems = new Problems()
  checkPartition(partition, '/partition', problems)
  checkWhole(after, '/position', POSITION, problems)
  checkWhole(limit, '/limit', { min: 1, max: MAX_LIMIT }, problems)
  problems.throwIfAny(`The question to the log ${log}`)
  return limit
}
