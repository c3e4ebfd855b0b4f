/** Finds the rule that a task had at each of its kept starts and changes, and whether the task can be replayed in rows. */
import type { Prepared } from '#core/spi'
import type { Input } from '../durable/input.ts'
import { isLaterPlug } from '../durable/later-calls.ts'
import type { RunnableTask } from '../runner.ts'
import type { KeptInput, KeptInputs } from './contract.ts'

type RunInput = Extract<Input, { k: 'begin' | 'change' }>

export function isRun(input: Input): input is RunInput {
  return input.k === 'begin' || input.k === 'change'
}

/** By position; undefined: a run that ended before its first checkpoint. */
export type RulesOfRuns = ReadonlyMap<number, RunnableTask | undefined>

/** `own`: inputs of the task until the end of the log. */
export async function rulesOfRuns(
  own: readonly KeptInput[],
  current: RunnableTask | undefined,
  before: (position: number) => ReturnType<KeptInputs['checkpoint']>,
): Promise<RulesOfRuns> {
  const rules = new Map<number, RunnableTask | undefined>()
  const runs = own.flatMap(({ position, input }) => (isRun(input) ? [{ position, input }] : []))
  for (const [i, { position, input }] of runs.entries()) {
    const { e: epoch } = input
    const later = runs.slice(i + 1)
    // each change contains the rule before it
    const change = later.find((one) => one.input.k === 'change' && one.input.e === epoch)?.input
    const next = later.find((one) => one.input.e !== epoch)
    const last = next === undefined ? Number.MAX_SAFE_INTEGER : next.position - 1
    const known = current?.epoch === epoch ? current : (await before(last))?.task
    const base = known ?? current
    if (change?.k === 'change' && base !== undefined) rules.set(position, { ...base, epoch, ...change.b })
    else rules.set(position, known?.epoch === epoch ? known : undefined)
  }
  return rules
}

/**
 * Returns whether rows can replay a task: no call needs anything from outside before it begins, and sensors answer at
 * once.
 */
export function fitsRows({ graph }: Prepared, later: ReadonlySet<string>): boolean {
  const calls = [...graph.sensors, ...graph.actuators].map(({ call }) => call)
  return (
    calls.every(({ needs, loop }) => needs === undefined && loop === undefined) &&
    graph.sensors.every(({ call }) => call.ahead === undefined && !isLaterPlug(call.plug, later))
  )
}
