/** Decides which inputs wait and which are dropped when an input arrives at a busy task. */
import { ownValue } from '#kernel'
import type { LaneInput, WaitingInput } from '../task/input.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { TaskState } from '../task/task-state.ts'

interface Room {
  readonly mayWait: boolean
  readonly dropped: readonly WaitingInput[]
  readonly why: string
}

const ENOUGH: Room = { mayWait: true, dropped: [], why: '' }

/** Drops waiting inputs as the task's `whenBusy` demands, and the oldest message when too many wait. */
export function makeRoom(state: TaskState, { settings, maxWaiting }: TaskModel, input: LaneInput): Room {
  const isBrokerData = input.kind === 'data' && input.sent?.channel === undefined
  if (isBrokerData && settings.whenBusy === 'skip') {
    return {
      mayWait: false,
      dropped: [],
      why: 'a message was skipped because the task was still processing an earlier one',
    }
  }
  if (isBrokerData && settings.whenBusy === 'latest') {
    const dropped = state.waiting.filter((one) => isCovered(one.input, input.messages))
    if (dropped.length > 0) {
      state.waiting = state.waiting.filter((one) => !dropped.includes(one))
      return {
        mayWait: true,
        dropped,
        why: 'a waiting message was dropped because a newer one contains all its values',
      }
    }
  }
  if (state.waiting.length < maxWaiting) return ENOUGH
  const oldest = state.waiting.findIndex((one) => one.input.kind === 'data')
  const dropped = state.waiting.splice(Math.max(0, oldest), 1)
  return { mayWait: true, dropped, why: `the oldest of ${maxWaiting} waiting messages was dropped` }
}

function isCovered(input: LaneInput, newer: readonly Message[]): boolean {
  if (input.kind !== 'data' || input.sent?.channel !== undefined) return false
  return input.messages.every((old) => newer.some((one) => one.resource === old.resource && hasAll(one, old)))
}

function hasAll(newer: Message, older: Message): boolean {
  return Object.keys(older).every(
    (key) => key === 'timestamp' || ownValue(older, key) === undefined || ownValue(newer, key) !== undefined,
  )
}
