/**
 * Implements one task of an engine: its timers and its handle.
 *
 * LIVE-1 whether a task rests is invisible: every input and every read creates its lane, with the same state as if it
 *   had never rested.
 */
import { AppError, seedOf } from '#kernel'
import type { Graph, GraphNode, SensorNode } from '../graph/graph.ts'
import type { Group } from '../rule/rule.ts'
import { carryOver, type CarriedOver } from '../task/carry-over.ts'
import { explain, type Explanation } from '../task/explain.ts'
import type { Input, LaneInput, TimerKind } from '../task/input.ts'
import { withoutRepeats } from '../task/invocation.ts'
import type { MemberChange } from '../task/members/change.ts'
import type { Message, Sent } from '../task/origin.ts'
import type { PackedState, StatePacker } from '../task/packed-state.ts'
import type { WorkPacker } from '../task/packed-work.ts'
import { isAffectedBy } from '../task/downtime.ts'
import { restoreState } from '../task/restore.ts'
import type { TaskModel } from '../task/run.ts'
import { RestingState } from '../task/resting-state.ts'
import { saveState } from '../task/save.ts'
import type { DowntimeInterval, SavedState } from '../task/saved.ts'
import { forgetTimes } from '../task/readings/admit.ts'
import type { Readings } from '../task/readings/readings.ts'
import type { Execution, TaskStatus } from '../task/state.ts'
import { dueAt } from '../task/step.ts'
import { TaskState } from '../task/task-state.ts'
import type { MembershipChange, NodeView, SavedTask, Task, TaskInfo } from './api.ts'
import type { Outcome } from './call-plug.ts'
import type { ExecutedTask, Executor, MessageListener, TaskExecutor } from './executor.ts'
import type { StateCache } from './state-cache.ts'
import type { Reply } from './journal.ts'
import type { Prepared } from './prepared.ts'
import { MemberRoutes, type MemberRouter } from './member-routes.ts'
import { indexOfGroup, requireFew, withResource } from './membership.ts'
import { noNode, noSensor, notPossible, requireNoGroup, requirePushed } from './refusals.ts'
import { NOWHERE, type Routed } from './router.ts'
import { TaskHooks, type SharedHooks } from './task-hooks.ts'
import { TaskLane, type LaneHost, type LaneOwner } from './task-lane.ts'
import { nodeView, taskInfo } from './task-view.ts'
import { NO_TIMER, type TimerOwner } from './timer-table.ts'

export interface TaskHost extends SharedHooks, LaneHost {
  readonly executor: Executor
  now(): number
  model(task: LiveTask, start: number): TaskModel
  ended(task: LiveTask): void
  joined(task: LiveTask, member: string): void
  left(task: LiveTask, member: string): void
  readonly packer: StatePacker
  readonly workPacker: WorkPacker
  readonly fullStates: StateCache
  report(what: string, error: unknown): void
}

export class LiveTask implements Task, TimerOwner, Routed, MessageListener, ExecutedTask, LaneOwner {
  readonly id: string
  readonly order: number
  readonly createTime: number
  firstTimer = NO_TIMER
  prepared: Prepared
  error: string | undefined
  ranBefore = 0
  /** undefined while the task rests and before its first start */
  #lane: TaskLane | undefined
  #state: TaskState | undefined
  #rest: RestingState | PackedState | undefined
  #executor: TaskExecutor | undefined
  #hooks: TaskHooks | undefined
  readonly #host: TaskHost
  #failed = false
  #isGone = false
  #routed: ListOrOnly = NOWHERE
  #resolved: ListOrOnly = NOWHERE
  /** undefined: the rule has no groups */
  #members: MemberRoutes | undefined

  constructor(id: string, order: number, createTime: number, prepared: Prepared, host: TaskHost) {
    this.id = id
    this.order = order
    this.createTime = createTime
    this.prepared = prepared
    this.#host = host
  }

  get routed(): readonly string[] {
    return listOf(this.#routed)
  }

  set routed(resources: readonly string[]) {
    this.#routed = listOrOnly(resources)
  }

  get resolved(): readonly string[] {
    return listOf(this.#resolved)
  }

  set resolved(resources: readonly string[]) {
    this.#resolved = listOrOnly(resources)
  }

  get executor(): TaskExecutor {
    return (this.#executor ??= this.#host.executor.forTask(this))
  }

  get caller(): TaskHooks {
    return (this.#hooks ??= new TaskHooks(this, this.#host))
  }

  listen(types: number): void {
    if (!this.#host.executor.canTell(types)) this.#executor?.detach()
    this.#wake()
    this.caller.types = types
  }

  get name(): string {
    return this.prepared.name
  }

  get lastRun(): number {
    return Math.max(this.#rest?.run ?? this.#state?.run ?? 0, this.ranBefore)
  }

  get status(): TaskStatus {
    if (this.#failed) return 'failed'
    return this.#rest === undefined ? (this.#state?.status ?? 'stopped') : 'running'
  }

  get resources(): readonly string[] {
    return this.#rest === undefined ? (this.#lane?.model.resources ?? []) : distinct(this.resolved)
  }

  begin(model: TaskModel, seed: number, number?: number): void {
    const lane = this.#open(model)
    const { state } = lane
    state.run = number === undefined ? Math.max(state.run, this.ranBefore) : number - 1
    state.seed = seedOf(`${seed}/${this.id}/${state.run + 1}`)
    this.take(this.#host.now(), { kind: 'start' })
    this.#restIfIdle()
  }

  /** Continues a saved run. Throws `SAVED_STATE`, `SCHEDULE`. */
  reopen(makeModel: () => TaskModel, saved: SavedState, away?: DowntimeInterval): void {
    const { packer } = this.#host
    const { graph } = this.prepared
    const isMoved = away !== undefined && isAffectedBy(this.prepared, away)
    const mayRest = !hasClocks(this.prepared) && this.types === 0 && !isMoved
    this.#rest = mayRest ? this.#restOf(saved) : undefined
    if (this.#rest !== undefined) return
    const packed = mayRest ? packer.pack(saved, this.resolved, this.#host.now()) : undefined
    this.#rest = packed !== undefined && packer.isKnown(graph, packed) ? packed : undefined
    if (this.#rest !== undefined) return
    const model = makeModel()
    const lane = this.#open(model)
    restoreState(lane, saved, undefined, away)
    lane.resume(this.#host.now())
    this.#restIfIdle(packed)
    if (packed !== undefined && this.#rest === packed) packer.note(graph, packed)
  }

  replace(prepared: Prepared): void {
    this.prepared = prepared
    this.#lane?.forgetWaiting()
    this.#lane = undefined
    this.#rest = undefined
    this.#state = this.#freshState(prepared.graph, 0)
  }

  carriedOver(prepared: Prepared, next: TaskModel, now: number): CarriedOver {
    this.#executor?.synchronize()
    return this.#look(({ model, state }) => {
      const before = { model, overrides: this.prepared.overrides }
      return carryOver(before, { model: next, overrides: prepared.overrides }, saveState(model, state), now)
    })
  }

  change(prepared: Prepared, resolved: readonly string[], carried: CarriedOver, now: number): void {
    this.#executor?.detach()
    const lane = this.#requireLane()
    this.prepared = prepared
    this.resolved = resolved
    this.#executor?.modelChanged()
    lane.change(now, carried)
    this.#state = lane.state
    lane.goOnUnder(now, carried)
  }

  fail(error: string): void {
    this.#failed = true
    this.error = error
    this.caller.lifecycle?.({
      time: this.#host.now(),
      task: this.id,
      invocation: this.#state?.invocations ?? 0,
      type: 'failed',
      error,
    })
  }

  /** Processes one input and all that follows at once, ahead of waiting inputs. */
  take(now: number, input: Input): void {
    this.#executor?.detach()
    this.#awake()?.take(now, input)
  }

  receive(now: number, messages: readonly Message[], sent?: Sent): void {
    this.executor.tookPlain(messages, sent)
    this.executor.detach()
    const lane = this.#awake()
    if (messages.length === 1) lane?.arriveData(now, messages, sent)
    else {
      const parts = this.#members === undefined ? withoutRepeats(messages) : messages.map((one) => [one])
      for (const part of parts) {
        lane?.arriveData(now, part, sent)
        lane?.takeDue(now)
      }
    }
  }

  takeData(now: number, message: Message): void {
    this.#awake()?.arriveData(now, [message], undefined)
  }

  #arrive(now: number, input: LaneInput): void {
    this.#executor?.detach()
    this.#awake()?.arrive(now, input)
  }

  /** Whether messages of a resource on a channel run a sensor of this task. */
  runsOn(resource: string, channel: string): boolean {
    const lane = this.#awake()
    if (lane === undefined) return false
    const { channelPlans, resources } = lane.model
    return (channelPlans.get(channel)?.[resources.indexOf(resource)]?.sensors.length ?? 0) > 0
  }

  get memberIds(): Iterable<string> | undefined {
    return this.#members?.all()
  }

  /** Processes members that join or leave a group; an empty list of a group without members causes a warning. */
  changeMembersOf(now: number, group: number, changes: readonly MemberChange[]): void {
    this.#members ??= new MemberRoutes(this.prepared.graph.groups.length)
    this.#members.change(group, changes, this.#memberRouter)
    this.#arrive(now, { kind: 'members', group, changes, from: 0 })
  }

  /** Lets resources join that are not members yet, and warns of groups that remain empty. */
  completeMembers(now: number, members: readonly (readonly string[])[]): void {
    if (this.status !== 'running') return
    for (const [index, ids] of members.entries()) {
      const known = this.#members?.of(index)
      const changes = ids.filter((id) => known?.has(id) !== true).map((id) => ({ id, joins: true }))
      if (changes.length > 0 || ids.length === 0) this.changeMembersOf(now, index, changes)
    }
  }

  /** Lets members join and leave the group with that text; without it, or once the task has stopped, nothing happens. */
  changeMembersBy(key: string, changes: readonly MemberChange[]): void {
    const index = this.prepared.graph.groups.findIndex((group) => group.key === key)
    if (index === -1 || this.status !== 'running') return
    this.#host.enqueue((now) => this.changeMembersOf(now, index, changes))
  }

  /** Returns the groups of the rule, `$` replaced, with the ids of their members. */
  get groups(): readonly { readonly key: string; readonly group: Group; readonly members: ReadonlySet<string> }[] {
    const { graph, resource } = this.prepared
    return graph.groups.map(({ key, spec }, index) => ({
      key,
      group: withResource(spec, resource),
      members: this.#members?.of(index) ?? NO_MEMBERS,
    }))
  }

  changeMembers(group: Group, { joined = [], left = [] }: MembershipChange): void {
    const index = indexOfGroup(this.prepared.graph, group, this.id)
    this.#requireRunning('change members')
    const size = this.#members?.of(index).size ?? 0
    requireFew(group, size + joined.length)
    const changes = [...left.map((id) => ({ id, joins: false })), ...joined.map((id) => ({ id, joins: true }))]
    this.#host.enqueue((now) => this.changeMembersOf(now, index, changes))
  }

  /** Routes the members of a restored state, including resources that wait to join. */
  routeMembers(): void {
    const state = this.#state
    if (state === undefined || state.groups.length === 0) return
    this.#members = MemberRoutes.of(state)
    for (const id of this.#members.all()) this.#memberRouter.joined(id)
  }

  get #memberRouter(): MemberRouter {
    return { joined: (id) => this.#host.joined(this, id), left: (id) => this.#host.left(this, id) }
  }

  get lane(): TaskLane | undefined {
    return this.#awake()
  }

  get readings(): Readings | null {
    return this.#state?.readings ?? null
  }

  get types(): number {
    return this.#hooks?.types ?? 0
  }

  goOn(execution: Execution, reply: Outcome | Promise<Outcome> | undefined, now: number, at: number): void {
    this.#lane?.goOnWith(execution, reply, now, at)
  }

  wakeAt(at: number, slot: number): void {
    this.#host.timers.set(this, 'wake', at, slot)
  }

  serve(mayFail: boolean): void {
    this.#executor?.serve(mayFail)
  }

  isCurrent(lane: TaskLane): boolean {
    return this.#lane === lane
  }

  mistake(error: unknown): void {
    this.#host.report(`task ${this.id}`, error)
  }

  after(): void {
    this.#host.fullStates.add(this)
    if (this.#state?.status !== 'running') this.#host.ended(this)
    this.#host.journal?.touched(this)
  }

  unpacked(): void {
    this.#host.fullStates.add(this)
  }

  pack(): boolean {
    const lane = this.#lane
    if (lane === undefined) return true
    const { model, state } = lane
    if (state.groups.length > 0 || !state.isFree || state.inFlight.size > 0 || this.#executor?.deadline !== undefined)
      return false
    this.#host.workPacker.pack(model, state, this)
    return true
  }

  giveUp(): void {
    this.#executor?.synchronize()
    this.#lane?.giveUp()
  }

  /** Moves the deadlines (epoch ms) of calls in progress by `move`. Returns false if none was moved. */
  moveLimits(move: (limit: number, timeoutMs: number) => number): boolean {
    return this.#lane?.moveLimits(move) ?? false
  }

  abandon(): void {
    this.#isGone = true
    this.#host.fullStates.delete(this)
    this.#executor?.drop()
    this.#host.timers.forget(this)
    const lane = this.#lane
    this.#lane = undefined
    lane?.abandon()
  }

  dueAt(kind: TimerKind, key: number): number {
    if (this.#lane === undefined) return Number.POSITIVE_INFINITY
    // A row waits for one call, whose deadline all wakes of sensors watch.
    const isOfSensor = kind === 'wake' && key < this.prepared.graph.sensors.length
    return (isOfSensor ? this.#executor?.deadline : undefined) ?? dueAt(this.#lane, kind, key)
  }

  fire(kind: TimerKind, key: number, now: number): void {
    if (kind === 'wake' && key >= this.prepared.graph.sensors.length) this.serve(true)
    else this.#executor?.detach()
    // A row's call that was opened has a wake of its own.
    if (this.dueAt(kind, key) <= now) this.#lane?.fire(kind, key, now)
  }

  push(label: string, value: { readonly state?: string; readonly rawData?: Record<string, unknown> }): void {
    const node = this.#sensor(label)
    requireNoGroup(this.id, node)
    requirePushed(label, value)
    const state = value.state === undefined ? -1 : node.states.indexOf(value.state)
    if (value.state !== undefined && state === -1) {
      const text = `State ${value.state} is invalid for node ${label} on task ${this.id}; it can be ${node.states.join(', ')}`
      throw new AppError('INVALID_STATE', text)
    }
    this.#requireRunning(`push to ${label}`)
    this.#host.enqueue((now) => this.#arrive(now, { kind: 'push', node, state, rawData: value.rawData }))
  }

  run(label: string): void {
    const node = this.#sensor(label)
    requireNoGroup(this.id, node)
    this.#requireRunning(`run ${label}`)
    this.#host.enqueue((now) => this.#arrive(now, { kind: 'run', node }))
  }

  resume(label: string): void {
    const node = this.#node(label)
    if (node.kind === 'gate')
      throw new AppError('NOT_FOUND', `node ${label} of task ${this.id} is a relation, which never pauses`)
    this.#requireRunning(`resume ${label}`)
    this.#host.enqueue((now) => this.#arrive(now, { kind: 'resume', node }))
  }

  resync(): void {
    this.#requireRunning('resync')
    this.#host.enqueue((now) => {
      this.#executor?.detach()
      const lane = this.#awake()
      if (lane === undefined) return
      forgetTimes(lane)
      lane.fire('release', 0, now)
    })
  }

  explain(label: string): Explanation {
    this.#executor?.synchronize()
    const node = this.#node(label)
    return this.#look((lane) => explain(lane, node, this.#host.now()))
  }

  node(label: string): NodeView {
    this.#executor?.synchronize()
    const state = this.#shown()
    return nodeView(this.#node(label), state?.shown(), state?.groups)
  }

  nodes(): readonly NodeView[] {
    this.#executor?.synchronize()
    const { sensors = [], relations = [], actuators = [] } = this.prepared.rule
    // Reads the state once for all nodes: each read of a resting task unpacks its whole state.
    const state = this.#shown()
    const shown = state?.shown()
    return [...sensors, ...relations, ...actuators].map(({ label }) =>
      nodeView(this.#node(label), shown, state?.groups),
    )
  }

  info(): TaskInfo {
    this.#executor?.synchronize()
    return taskInfo(this, this.#shown())
  }

  save(): SavedTask {
    this.#executor?.synchronize()
    const { rule, template, overrides } = this.prepared
    const state = this.#look((lane) => saveState(lane.model, lane.state))
    return {
      format: 1,
      id: this.id,
      createTime: this.createTime,
      ...(template !== undefined && { template }),
      rule,
      ...(overrides.byStream.length + overrides.byData.length > 0 && { overrides }),
      resources: this.resolved,
      state,
    }
  }

  #shown(): TaskState | undefined {
    return this.#rest === undefined ? this.#state : this.#look(({ state }) => state)
  }

  #restOf(saved: SavedState): RestingState | undefined {
    return RestingState.ofSaved(saved, this.prepared.graph, this.#host.now())
  }

  #restIfIdle(packed?: PackedState): void {
    const lane = this.#lane
    if (lane === undefined || hasClocks(this.prepared) || this.firstTimer !== NO_TIMER || this.types !== 0) return
    this.#rest = RestingState.of(lane) ?? packed
    if (this.#rest !== undefined) this.#forgetLane()
  }

  #awake(): TaskLane | undefined {
    if (!this.#isGone) this.#wake()
    return this.#lane
  }

  #wake(): void {
    const rest = this.#rest
    if (rest === undefined) return
    this.#rest = undefined
    const model = this.#host.model(this, rest.startTime)
    const lane = this.#laneOver(model, new TaskState(model.graph, model.resources.length), rest.now)
    rest.restore(lane)
    this.#state = lane.state
    this.#lane = lane
  }

  /** Reads from the lane; a resting task continues to rest. */
  #look<T>(look: (lane: TaskLane) => T): T {
    const rest = this.#rest
    try {
      return look(this.#requireLane())
    } finally {
      if (rest !== undefined) {
        this.#rest = rest
        this.#forgetLane()
      }
    }
  }

  #forgetLane(): void {
    this.#host.fullStates.delete(this)
    this.#lane = undefined
    this.#state = undefined
    this.#hooks = undefined
  }

  #laneOver(model: TaskModel, state: TaskState, now: number): TaskLane {
    return new TaskLane(this, this.#host, { model, state, sink: this.caller }, now)
  }

  #open(model: TaskModel): TaskLane {
    this.#executor?.modelChanged()
    this.#failed = false
    this.error = undefined
    const state = this.#freshState(model.graph, model.resources.length)
    this.#state = state
    this.#lane?.forgetWaiting()
    this.#lane = this.#laneOver(model, state, this.#host.now())
    return this.#lane
  }

  #freshState(graph: Graph, resourceCount: number): TaskState {
    const state = new TaskState(graph, resourceCount)
    if (this.#state === undefined) return state
    const { run, invocations, executions, failures } = this.#state
    return Object.assign(state, { run, invocations, executions, failures })
  }

  settle(id: number, call: number, reply: Reply): void {
    this.#awake()?.settle(id, call, reply)
  }

  settleAhead(input: number, node: string, outcome: Outcome): void {
    this.#awake()?.settleAhead(input, node, outcome)
  }

  execution(id: number): Execution | undefined {
    return this.#lane?.execution(id)
  }

  #node(label: string): GraphNode {
    const node = this.prepared.graph.byLabel.get(label)
    if (node) return node
    throw noNode(this.id, label, this.prepared.graph)
  }

  #sensor(label: string): SensorNode {
    const node = this.#node(label)
    if (node.kind === 'sensor') return node
    throw noSensor(this.id, node)
  }

  #requireLane(): TaskLane {
    const lane = this.#awake()
    if (lane) return lane
    if (this.#isGone) throw new AppError('CLOSED', `task ${this.id} was removed, or its engine is closed`)
    throw new AppError('WRONG_STATUS', `task ${this.id} has not been started`)
  }

  #requireRunning(action: string): void {
    if (this.#isGone) throw new AppError('CLOSED', `task ${this.id} was removed, or its engine is closed`)
    if (this.status !== 'running') throw notPossible(action, this.status)
  }
}

/** A list, or its only element: a list of one text would need more than a tenth of a resting task's memory. */
type ListOrOnly = string | readonly string[]

function listOrOnly(list: readonly string[]): ListOrOnly {
  return list.length === 1 ? (list[0] as string) : list
}

function listOf(one: ListOrOnly): readonly string[] {
  return typeof one === 'string' ? [one] : one
}

function distinct(resources: readonly string[]): readonly string[] {
  return resources.length < 2 ? resources : [...new Set(resources)]
}

const NO_MEMBERS: ReadonlySet<string> = new Set()

/** Whether the task has clocks or groups, so that it never rests. */
function hasClocks({ settings, graph }: Prepared): boolean {
  if (settings.type !== 'reactive' || graph.groups.length > 0) return true
  for (const { pollingPeriod, schedule } of graph.sensors) if ((pollingPeriod ?? schedule) !== undefined) return true
  return false
}
