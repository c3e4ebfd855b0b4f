/**
 * The loop over the rows of a vectorized batch that fire at a message: one call of an actuator after the other. It is
 * made as source text, one for each plug, so that what is known of a plug's calls and answers is known of that plug alone.
 */
import type { Generate } from '../engine/executor.ts'
import type { Plug, PlugContext } from '../plug/plug.ts'
import { keptOf, NOT_ORDINARY, type KeptAnswer } from './ordinary-answers.ts'
import { objectsAt, PLUG, PROPERTIES } from './row-layout.ts'
import type { RowStore } from './row-store.ts'

/** Rows that fire one after the other at one message: by place, which row it is and what its call is given. */
export interface FiringPlaces {
  readonly rowAt: Int32Array
  readonly properties: readonly Readonly<Record<string, unknown>>[]
}

/** What their calls see. */
export interface FiringContext extends PlugContext {
  /** rows that fire one after the other, and whose call it is */
  firing: FiringPlaces | null
  place: number
  readonly row: number
  /** not null: the call goes on in the state machine */
  readonly opened: object | null
}

/** The rows of a vectorized batch, by place. */
export interface FiringRows extends FiringPlaces {
  readonly plugs: readonly Plug[]
  /** what their actuators gave last; undefined while none has given anything */
  answers: KeptAnswer[] | undefined
  /** the batch is over: rows go on by themselves */
  isOver: boolean
}

/** Rows before the first message. */
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

/** Owner of calls that do not end within their rows. */
export interface FiringOwner {
  /** A plug looked at a task, or its answer does not fit into a row. True when the call ended within its row all the same. */
  firingAnswered(row: number, plug: Plug, result: unknown): boolean
  firingFailed(error: unknown): void
}

/**
 * Calls the actuators of rows that fire, which stand from `first` on as bits by row, 32 to a word: of the words `from`
 * to `to`. Returns the number of calls that ended within their rows; it stops at the first other one.
 */
export type FireRows = (
  rows: FiringRows,
  context: FiringContext,
  firing: Int32Array,
  first: number,
  from: number,
  to: number,
) => number

/** `plug`: the only one that the rows call; undefined: they call several. `shape`: of the rows */
export function firingLoop(plug: Plug | undefined, owner: FiringOwner, shape: string, generate: Generate): FireRows {
  // A text that was there before would share what is known of its calls.
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
    // What does not change while rows fire is looked at before: else each call looks again at what it is.
    'if (rows.properties.length === 0) return 0',
    'context.firing = rows',
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
    // Most actuators never answer: then there is nothing to keep.
    'if (result !== undefined || rows.answers !== undefined) {',
    'const kept = result === undefined ? undefined : keptOf(result)',
    `if (kept === NOT_ORDINARY) ${leave}`,
    'if (rows.answers === undefined) rows.answers = new Array(rows.plugs.length)',
    'rows.answers[i] = kept',
    '}',
    'firings = (firings + 1) | 0',
    '}',
    '}',
    'return firings',
    '}',
  ].join('\n')
}
