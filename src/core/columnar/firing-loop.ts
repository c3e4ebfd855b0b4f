/**
 * Generates the loop that fires the actuators of a vectorized batch at a message, one call after the other. Each plug
 * has its own generated loop, so that the optimizer specializes it for that plug's calls and results.
 */
import type { Generate } from '../engine/executor.ts'
import type { Plug, PlugContext } from '../plug/plug.ts'
import { keptOf, NOT_ORDINARY, type KeptAnswer } from './ordinary-answers.ts'
import { objectsAt, PLUG, PROPERTIES } from './row-layout.ts'
import type { RowStore } from './row-store.ts'

/** Rows that fire one after the other at one message: the row at each place, and the arguments of its call. */
export interface FiringPlaces {
  readonly rowAt: Int32Array
  readonly properties: readonly Readonly<Record<string, unknown>>[]
}

/** The context that actuator calls receive. */
export interface FiringContext extends PlugContext {
  /** the rows that are firing, and the place of the current call */
  firing: FiringPlaces | null
  place: number
  readonly row: number
  /** set when the current call continues in the state machine */
  readonly opened: object | null
}

/** The rows of a vectorized batch, by place. */
export interface FiringRows extends FiringPlaces {
  readonly plugs: readonly Plug[]
  /** the last results of the actuators; undefined while none has returned anything */
  answers: KeptAnswer[] | undefined
  /** set when the batch has ended and its rows continue on their own */
  isOver: boolean
}

/** Creates the rows as they are before the first message. */
export function firingRows(
  rows: readonly number[],
  rowAt: Int32Array,
  { objects, layout, answers, hasAnswers }: RowStore,
): FiringRows {
  const actuators = rows.map((row) => row * layout.objects + objectsAt(0))
  return {
    rowAt,
    plugs: actuators.map((actuator) => objects[actuator + PLUG] as Plug),
    properties: actuators.map((actuator) => objects[actuator + PROPERTIES] as FiringPlaces['properties'][number]),
    answers: hasAnswers ? rows.map((row) => answers[row]) : undefined,
    isOver: false,
  }
}

/** Handles calls that do not end within their rows. */
export interface FiringOwner {
  /**
   * Called when a plug inspected a task, or when its result does not fit into a row. Returns true if the call still
   * ended within its row.
   */
  firingAnswered(row: number, plug: Plug, result: unknown): boolean
  firingFailed(error: unknown): void
}

/**
 * Calls the actuators of the firing rows. The rows are bits, 32 to a word, from `first` on; only the words `from` to
 * `to` are processed. Stops at the first call that does not end within its row, and returns the number of calls that
 * did.
 */
export type FireRows = (
  rows: FiringRows,
  context: FiringContext,
  firing: Int32Array,
  first: number,
  from: number,
  to: number,
) => number

/** `plug`: the only plug that the rows call; undefined if they call several. `shape`: of the rows */
export function firingLoop(plug: Plug | undefined, owner: FiringOwner, shape: string, generate: Generate): FireRows {
  // Reused source text would share its optimizer feedback, so each loop gets a unique name.
  const name = encodeURIComponent(JSON.stringify([shape, plug?.name, plug?.version]))
  const captured = { plug, owner, keptOf, NOT_ORDINARY }
  const outer = generate(
    Object.keys(captured),
    `// ${name}\nreturn ${loopSource(plug === undefined ? 'rows.plugs[i]' : 'plug')}`,
  )
  return (outer as (...captured: unknown[]) => unknown)(...Object.values(captured)) as FireRows
}

function loopSource(plug: string): string {
  const leave = `return firings + (owner.firingAnswered(context.row, ${plug}, result) ? 1 : 0)`
  return [
    '(rows, context, firing, first, from, to) => {',
    // Reads what is constant during firing once, rather than at each call.
    'if (rows.properties.length === 0) return 0',
    'context.firing = rows',
    'let { answers } = rows',
    'let firings = 0',
    'for (let w = from; w < to; w++) {',
    'const base = w << 5',
    'for (let word = firing[first + w]; word !== 0; word &= word - 1) {',
    'const i = base | (31 ^ Math.clz32(word & -word))',
    'context.place = i',
    'let result',
    'try {',
    `result = ${plug}.execute(context)`,
    '} catch (error) {',
    'owner.firingFailed(error)',
    'return firings',
    '}',
    `if (context.opened !== null || rows.isOver !== false) ${leave}`,
    // Most actuators return nothing, so nothing has to be kept.
    'if (result !== undefined || answers !== undefined) {',
    'const kept = result === undefined ? undefined : keptOf(result)',
    `if (kept === NOT_ORDINARY) ${leave}`,
    'if (answers === undefined) answers = rows.answers = new Array(rows.plugs.length)',
    'answers[i] = kept',
    '}',
    'firings = (firings + 1) | 0',
    '}',
    '}',
    'return firings',
    '}',
  ].join('\n')
}
