/** Converts a stored task to its form in responses, with the counts and states of its run. */
import type { TaskInfo } from '#core'
import type { RuleGraph } from '#core/spi'
import { AppError } from '#kernel'
import type { GraphForms, WireGraph } from './graph-forms.ts'
import type { NodeControl } from '../runner.ts'
import { runtimeNode } from '../inspection/runtime-node.ts'
import type { ShowOptions, TaskEntity } from './task-schema.ts'
import type { SourceRepository } from './source-repository.ts'
import { taskVersionOf } from './task-versions.ts'
import { revisionOf, templateVersionOf, type TaskRecord } from './task-record.ts'

export class TaskShow {
  readonly #sources: SourceRepository
  readonly #forms: GraphForms
  readonly #nodes: NodeControl

  constructor(sources: SourceRepository, forms: GraphForms, nodes: NodeControl) {
    this.#sources = sources
    this.#forms = forms
    this.#nodes = nodes
  }

  /** Includes the graph and, in `bn` form, the states of its nodes. */
  async whole(task: TaskRecord, options: ShowOptions): Promise<TaskEntity> {
    const network = await this.#network(task, options.format)
    const entity = this.withoutGraph(task, options)
    if (options.format !== 'bn' || !Array.isArray(network['nodes'])) return { ...entity, network }
    const views = new Map(this.#nodes.view(task.id).map((view) => [view.node, view]))
    const nodes = network['nodes'] as readonly Readonly<Record<string, unknown>>[]
    return { ...entity, network, nodes: nodes.map((node) => runtimeNode(node, views.get(String(node['name'])))) }
  }

  async listed(task: TaskRecord, options: ShowOptions): Promise<TaskEntity> {
    const entity = this.withoutGraph(task, options)
    return { ...entity, network: await this.#network(task, options.format) }
  }

  withoutGraph(task: TaskRecord, { includeHealth }: Partial<ShowOptions>): TaskEntity {
    const info = task.status === 'running' ? this.#nodes.info(task.id) : undefined
    const { type, frequency, pollingInterval, cron, rrule, timeZone, misfire, overlap } = task.effective
    const { resource, variables, tags = {} } = task.effective
    const ms = frequency ?? (pollingInterval === undefined ? undefined : pollingInterval * 1000)
    return {
      ID: task.id,
      name: task.name,
      status: info === undefined || info.status === 'running' ? task.status : info.status,
      user: task.user,
      createTime: task.createTime,
      ...present('lastUpdateTime', task.lastUpdateTime),
      revision: revisionOf(task),
      ...present('template', task.template),
      ...present('templateVersion', templateVersionOf(task)),
      ...(task.template === undefined && {
        version: taskVersionOf(task).number,
        ...present('note', task.version?.note),
      }),
      ...present('resource', resource),
      resourceIds: task.resourceIds,
      type,
      ...(type === 'periodic' && present('frequency', ms)),
      ...(type === 'scheduled' && { ...present('cron', cron), ...present('rrule', rrule) }),
      ...present('timeZone', timeZone),
      ...present('misfire', misfire),
      ...present('overlap', overlap),
      resetObservations: task.effective.resetObservations ?? true,
      parallel: task.effective.parallel ?? true,
      gatesNeedFullObservation: task.effective.gatesNeedFullObservation ?? false,
      tags,
      ...present('variables', variables),
      ...present('startTime', task.startTime),
      ...present('lastExecutionTime', info?.lastExecutionTime ?? task.lastExecutionTime),
      ...present('finishedTime', task.finishedTime),
      ...present('nextTick', info?.nextTick),
      invocationCount: task.invocationCount + (info?.invocationCount ?? 0),
      ...present('error', task.error),
      ...(includeHealth === true && { health: healthOf(info) }),
    }
  }

  rule(task: TaskRecord): Promise<WireGraph> {
    return this.#network(task, 'simplified')
  }

  async graph(task: TaskRecord): Promise<RuleGraph> {
    if (task.rule !== undefined) return task.rule
    if (task.source === undefined) throw new AppError('INTERNAL', `task ${task.id} has no rule`)
    return (await this.#sources.load(task.source)).document
  }

  async #network(task: TaskRecord, format: ShowOptions['format']): Promise<WireGraph> {
    return this.#forms.of(await this.graph(task), task.settings.nodes ?? [], format)
  }
}

function healthOf(info: TaskInfo | undefined): NonNullable<TaskEntity['health']> {
  const health = info?.health ?? { errorsCount: 0, errorsRate: 0, dropped: 0 }
  const { waiting } = info ?? {}
  return { ...health, ...(waiting && { waiting }) }
}

function present<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: V })
}
