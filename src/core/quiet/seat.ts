/** The seat that ties a task to its row in a lane, and what the two ask of each other. */
import type { Outcome } from '../engine/call-plug.ts'
import type { Graph, GraphNode, TriggerEdge } from '../graph/graph.ts'
import type { Scope } from '../placeholders/scope.ts'
import type { PlugContext } from '../plug/plug.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import type { Crowd } from './crowd.ts'
import type { Fields } from './fields.ts'
import type { HotLane } from './hot-rows.ts'
import type { Progress } from './replay.ts'
import type { QuietFit } from './shape.ts'

/** The messages of a resource, as far as its rows may ask for them: the last one and the one before. */
export interface TakenSource {
  /** how many messages it took while there was a seat */
  readonly total: number
  /** Seats or listeners have changed. */
  changed(): void
  messageOf(total: number): Message
}

/** A listener's way into rows. */
export interface Attachable {
  readonly seat: Seat | undefined
  /** whether it may ever sit */
  readonly canSit: boolean
  /** Sits down when nothing is open after a message, the last that it took. */
  sitDown(message: Message, source: TakenSource): void
  /** Gives up its seat; the full state is up to date then. */
  detach(): void
}

/** What a lane needs of a task that runs. */
export interface QuietTask {
  readonly model: TaskModel
  readonly state: TaskState
  /** Calls a sensor's plug whose call changes nothing. */
  call(execution: Execution): Outcome
  /** A plug's own view of a call that is open in the full state. */
  view(execution: Execution, now: number): OpenView
  /** What a plug sees that asks after its call is over. */
  over(node: GraphNode, message: Message, time: number): Opened
  /** Asks to be told when the call of a sensor, by slot, has taken too long, epoch ms. */
  askForLimit(at: number, slot: number): void
  /** Gives up the seat; the full state is up to date then. */
  detach(): void
  /** Takes what an open call gave, and all that follows. `now`: the message's time; `at`: the clock's. */
  goOn(execution: Execution, given: Outcome | Promise<Outcome>, now: number, at: number): void
  /** What followed is done as far as possible: the seat is kept or given up. */
  done(seat: Seat, message: Message): void
}

export interface Seat {
  readonly lane: SeatLane
  readonly row: number
  readonly task: QuietTask
  readonly fit: QuietFit
  readonly source: TakenSource
  /** how many messages its source had taken when the row had taken none */
  offset: number
  /** count of the row's messages that the full state has seen */
  rebuilt: number
  /** the full state is ahead of the row: a call is open in it */
  isAway: boolean
}

/** The view of a call that is open in the fold. */
export type OpenView = PlugContext & Scope & { freeze(): void }

/** A call that was opened in the fold. */
export interface Opened {
  readonly execution: Execution
  readonly view: OpenView
}

/** The lane that a seat is in. */
export interface SeatLane {
  /** messages that went on in the fold */
  opened: number
  /** messages that rows took */
  taken: number
  /** The lane as a hot row sees it, for messages with these fields. */
  hot(fields: Fields): HotLane
  /** Takes a message into a list of rows, from a place on; gives the first place that only the fold can do. */
  receiveAll(list: readonly number[], from: number, message: Message): number
  /** A crowd of rows whose last message was `last`, and which go on together; undefined when they cannot. */
  gather(rows: readonly number[], last: Message): Crowd | undefined
  /** Its rows go on by themselves. */
  scatter(crowd: Crowd): void
  /** messages of a row so far */
  countOf(row: number): number
  /** The one that has a row, or had it. */
  seatAt(row: number): Seat
  rebuild(seat: Seat): void
  /** epoch ms of the clock when a late answer was taken last */
  readonly lastAnswerAt: number
  /** Whether a call of the row has not answered yet: a rebuild opens it in the full state. */
  isWaiting(seat: Seat): boolean
  /** The same of the call of that context. */
  isWaitingFor(row: number, context: PlugContext): boolean
  /** When an open call of a sensor, by slot, has taken too long, epoch ms; Infinity when none is open. */
  limitOf(seat: Seat, slot: number): number
  free(seat: Seat): void
  unfoldTo(seat: Seat, progress: Progress): Execution | undefined
  comeBack(seat: Seat): void
  /** firings of the message under way, before the one under way */
  earlierFirings(seat: Seat): number
  /** the last message of a row, and when it came */
  messageOf(seat: Seat): Message
  timeOf(seat: Seat): number
  nodeOf(graph: Graph, isSensor: boolean, node: number): GraphNode
  triggerOf(graph: Graph, isSensor: boolean, node: number, trigger: number): TriggerEdge | undefined
}
