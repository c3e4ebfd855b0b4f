/**
 * Packs the state of a task that has work but no execution in progress.
 *
 * PACKWORK-1 unpacking restores every field that is read.
 */
import { JsonPacker, type PackedJson, unpack } from '#kernel'
import { restoreState } from './restore.ts'
import { SILENT, type TaskModel } from './run.ts'
import { saveState } from './save.ts'
import type { SavedState } from './saved.ts'
import { TaskState, type SmallWork, type Work } from './task-state.ts'

type SavedWork = Pick<SavedState, 'origins' | 'links' | 'sensors' | 'gates' | 'actuators'>

/** Fields with indexes of lists: small numbers, so states with the same form share them. */
const PLACES = ['origin', 'via', 'earlier', 'trigger', 'place']
const NO_COUNTERS: Omit<SavedState, keyof SavedWork> = {
  status: 'running',
  run: 0,
  inputs: 0,
  effects: 0,
  invocations: 0,
  executions: 0,
  startTime: 0,
  lastExecutionTime: 0,
  finishedTime: 0,
  seed: 0,
  streams: {},
}
interface WorkOwner {
  unpacked(): void
}

class PackedWork implements SmallWork {
  /** The last messages keep their identity for comparisons, and can be read without unpacking. */
  readonly streams: Work['streams']
  readonly #model: TaskModel
  readonly #packed: PackedJson
  readonly #owner: WorkOwner

  constructor(model: TaskModel, packed: PackedJson, streams: Work['streams'], owner: WorkOwner) {
    this.streams = streams
    this.#model = model
    this.#packed = packed
    this.#owner = owner
  }

  unpack(): Work {
    const model = this.#model
    const state = new TaskState(model.graph, model.resources.length)
    const saved = { ...NO_COUNTERS, ...(unpack(this.#packed) as SavedWork) }
    restoreState({ model, state, sink: SILENT, now: 0, at: 0 }, saved)
    return { ...state.shown(), streams: this.streams }
  }

  unpacked(): void {
    this.#owner.unpacked()
  }
}

export class WorkPacker {
  readonly #packer = new JsonPacker(PLACES)

  /** Packs a state without executions in progress. A state that plain JSON cannot represent stays as it is. */
  pack(model: TaskModel, state: TaskState, owner: WorkOwner): void {
    const { origins, links, sensors, gates, actuators } = saveState(model, state)
    const packed = this.#packer.pack({ origins, links, sensors, gates, actuators }, model.resources)
    if (packed !== undefined) state.shrink(new PackedWork(model, packed, state.streams, owner))
  }
}
