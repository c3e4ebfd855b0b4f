/** What is right of the calls of the plug that writes down: once, in order, and with all the time that a call has. */
import type { Note } from '../world/note-plug.ts'
import type { World } from '../world/world.ts'
import type { SentMessage } from './simulated-service.ts'

/** ms that a call may take */
export const NOTE_LIMIT_MS = 20_000
/** ms within which it is durable that a call is over, when the store is well */
const WRITTEN_MS = 5000
/** ms of its limit that a call may lose to what nobody notices at once, such as a slow store */
const UNNOTICED_MS = 7000

interface NotingTask {
  readonly id: string
  readonly until: number
}

/** Messages on which a task acts for certain, and on which it may. */
export interface Inputs {
  readonly certain: readonly SentMessage[]
  readonly possible: readonly SentMessage[]
}

export function verifyNotes(world: World, task: NotingTask, inputs: Inputs): void {
  const notes = world.notes.list.filter((note) => note.task === task.id)
  verifyActs(world, task, notes, inputs)
  if (!world.wasSlow) verifyRepeats(world, notes)
  if (task.until < Infinity) return
  verifyLimits(world, notes)
  verifyOrder(world, task, notes, inputs.certain)
}

function verifyActs(world: World, { id }: NotingTask, notes: readonly Note[], { certain, possible }: Inputs): void {
  const byNumber = new Map<number, Map<string, number>>()
  for (const { n, effect, doneAt, lateAt } of notes) {
    const effects = byNumber.get(n) ?? new Map<string, number>()
    effects.set(effect, (effects.get(effect) ?? 0) + ((doneAt ?? lateAt) === undefined ? 0 : 1))
    byNumber.set(n, effects)
  }
  const allowed = new Map(possible.map((one) => [one.n, one.attempts]))
  for (const [n, effects] of byNumber) {
    const most = allowed.get(n) ?? 0
    if (effects.size > most) {
      const text = `task ${id} acted ${effects.size} times on message ${n}, at most ${most} are right: ${[...effects.keys()].join(', ')}`
      world.find('acts once', text)
    }
  }
  for (const { n } of certain) {
    const done = [...(byNumber.get(n)?.values() ?? [])].filter((count) => count > 0).length
    if (done < 1) world.find('acts once', `task ${id} never acted on message ${n}`)
  }
}

/**
 * What was done well is done again only when the host died just then, or when what it said was not durable within the
 * limit of the call. What was said after the call had been made again says nothing: that may be so in the life after the
 * one that began it, when little of its time was left.
 */
function verifyRepeats(world: World, notes: readonly Note[]): void {
  const done = new Map<string, Note>()
  for (const [i, note] of notes.entries()) {
    const { effect, life, at, doneAt } = note
    const before = done.get(effect)
    if (before?.life === life && doneAt !== undefined)
      world.find('acts once', `effect ${effect} was done twice in one life of the host`)
    if (before !== undefined && world.notes.endOf(before.life) - (before.doneAt ?? Infinity) > WRITTEN_MS)
      world.find('acts once', `effect ${effect} was done long before the host died, and called again at ${at}`)
    const again = notes.slice(i + 1).find((one) => one.effect === effect)
    if (doneAt !== undefined && doneAt <= (again?.at ?? Infinity)) done.set(effect, note)
  }
}

/** A call, as it was begun last. */
interface LastCall {
  readonly note: Note
  /** ms of its time that it may have had in lives of the host that died before it was begun in this one */
  readonly hadBefore: number
}

/**
 * A call that did not fail is made again only when it had all of its time, but for what the store was in trouble. One
 * that was under way when the host died has what was left of its time in the next life.
 */
function verifyLimits(world: World, notes: readonly Note[]): void {
  const last = new Map<string, LastCall>()
  for (const note of notes) {
    const before = last.get(note.effect)
    const isCarried = before !== undefined && before.note.life !== note.life && before.note.hasFailed !== true
    const hadBefore = isCarried ? before.hadBefore + timeUntilDeath(world, before.note) : 0
    last.set(note.effect, { note, hadBefore })
    if (before === undefined || before.note.life !== note.life || before.note.hasFailed === true) continue
    const had = before.hadBefore + world.countedWithin(before.note.at, note.at, NOTE_LIMIT_MS)
    if (had < NOTE_LIMIT_MS - UNNOTICED_MS) {
      const text = `effect ${note.effect}, called at ${before.note.at}, was called again at ${note.at}, after ${had} ms of its time`
      world.find('a call has its time', text)
    }
  }
}

/** As much as may have counted: trouble of the store did not, if that was written before the host died. */
function timeUntilDeath(world: World, { at, life }: Note): number {
  return world.leaptWithin(at, world.notes.endOf(life)) + world.notes.endOf(life) - at
}

function verifyOrder(world: World, task: NotingTask, notes: readonly Note[], certain: readonly SentMessage[]): void {
  const done = new Map<number, number>()
  for (const { n, doneAt } of notes) if (doneAt !== undefined) done.set(n, Math.min(done.get(n) ?? Infinity, doneAt))
  for (const first of certain) {
    for (const second of certain) {
      if ((first.ackedAt ?? Infinity) >= second.sentAt) continue
      const [before, after] = [done.get(first.n), done.get(second.n)]
      if (before === undefined || after === undefined || before <= after) continue
      const text = `task ${task.id} acted on message ${second.n} before ${first.n}, which was acknowledged before the other was sent`
      world.find('order', text)
    }
  }
}
