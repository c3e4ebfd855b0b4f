/** Forwards requests about tasks to the partition that owns them. */
import { AppError, type Caller } from '#kernel'
import { type Partition, partitionOf, partitionOfTask } from '#cluster'
import type { TaskAction } from '../batches/batch-schema.ts'
import type { RulesQuestion } from './rules-question.ts'
import type { InspectionApi, RehearsalRequest, RulesApi } from '../contract.ts'
import type { ShowOptions, TaskEntity, TaskPreview } from '../tasks/task-schema.ts'
import type { DataPush } from '../tools/tools-schema.ts'

export interface RulesPartition extends Partition {
  /** Settles as `answer` of the other service; rejects with `FENCED` when the partition has no host. */
  ask(partition: number, question: RulesQuestion): Promise<unknown>
}

/** Methods whose first argument is the id of a task or rehearsal, which names its partition. */
const BY_TASK = {
  tasks: ['remove', 'start', 'stop', 'restart', 'resync', 'get', 'conf', 'runs', 'versions', 'version', 'restore'],
  batches: ['previewReload', 'previewReplace', 'reload'],
  inspection: ['node', 'states', 'push', 'command', 'explain', 'deliveries', 'inputs', 'state'],
  rehearsals: ['replay', 'get', 'events', 'remove'],
} as const satisfies {
  readonly [A in 'tasks' | 'batches' | 'inspection' | 'rehearsals']: readonly (keyof RulesApi[A])[]
}

export function acrossPartitions(local: RulesApi, caller: Caller, partition: RulesPartition): RulesApi {
  const foreign = (id: string): number | undefined => foreignOf(id, partition)
  const ask = (
    at: number,
    api: 'tasks' | 'batches' | 'inspection' | 'tools' | 'rehearsals' | 'rollouts',
    method: string,
    args: readonly unknown[],
  ) => partition.ask(at, { ask: 'api', caller, api, method, args })
  const byTask = <A extends keyof typeof BY_TASK>(api: A): RulesApi[A] => {
    const here = local[api]
    const methods = BY_TASK[api].map((name) => {
      const method = Reflect.get(here, name) as (...args: readonly unknown[]) => Promise<unknown>
      return [
        name,
        async (...args: readonly unknown[]) => {
          const at = foreign(String(args[0]))
          return at === undefined ? method(...args) : ask(at, api, name, args)
        },
      ] as const
    })
    return { ...here, ...Object.fromEntries(methods) }
  }
  return {
    get tasks() {
      return byTask('tasks')
    },
    get templates() {
      return local.templates
    },
    get batches() {
      return byTask('batches')
    },
    get inspection(): InspectionApi {
      const here = byTask('inspection')
      return {
        ...here,
        log: async (query) => {
          const at = foreign(query.taskId)
          return at === undefined ? here.log(query) : ((await ask(at, 'inspection', 'log', [query])) as never)
        },
        events: (id, options) => {
          const at = foreign(id)
          if (at === undefined) return here.events(id, options)
          throw new AppError('ELSEWHERE', `task ${id} is in partition ${at}: request its own path`)
        },
      }
    },
    get rehearsals() {
      const here = byTask('rehearsals')
      return {
        ...here,
        run: async (request: RehearsalRequest) => {
          const { task } = request
          const at = typeof task === 'string' ? foreign(task) : undefined
          return at === undefined ? here.run(request) : ((await ask(at, 'rehearsals', 'run', [request])) as never)
        },
      }
    },
    /** The first partition carries out all roll-outs. */
    get rollouts(): RulesApi['rollouts'] {
      const { rollouts } = local
      if (partition.number === 0) return rollouts
      const methods = Object.keys(rollouts).map((name) => [
        name,
        async (...args: readonly unknown[]) => ask(0, 'rollouts', name, args),
      ])
      return Object.fromEntries(methods) as RulesApi['rollouts']
    },
    get tools() {
      const { tools } = local
      return {
        ...tools,
        push: async (data: DataPush) => {
          const { resource } = data as { readonly resource?: unknown }
          const at = typeof resource === 'string' ? partitionOf(resource, partition.count) : partition.number
          return at === partition.number ? tools.push(data) : ((await ask(at, 'tools', 'push', [data])) as never)
        },
      }
    },
  }
}

export function foreignOf(id: string, partition: Partition | undefined): number | undefined {
  const at = partition && partitionOfTask(id, partition.count)
  return at === partition?.number ? undefined : at
}

export async function shownElsewhere(
  ids: readonly string[],
  { options, withoutGraph }: { readonly options: ShowOptions; readonly withoutGraph: boolean },
  partition: RulesPartition,
): Promise<ReadonlyMap<string, TaskEntity>> {
  const byPartition = new Map<number, string[]>()
  for (const id of ids) {
    const at = foreignOf(id, partition)
    if (at !== undefined) byPartition.set(at, [...(byPartition.get(at) ?? []), id])
  }
  const answers = [...byPartition].map(async ([at, some]) => {
    const question = { ask: 'shown', ids: some, options, withoutGraph } as const
    return (await partition.ask(at, question)) as readonly TaskEntity[]
  })
  const shown = (await Promise.all(answers)).flat()
  return new Map(shown.map((task) => [task.ID, task]))
}

export function previewElsewhere(
  id: string,
  action: TaskAction,
  partition: RulesPartition | undefined,
): Promise<TaskPreview> | undefined {
  const at = foreignOf(id, partition)
  return partition === undefined || at === undefined
    ? undefined
    : (partition.ask(at, { ask: 'preview', id, action }) as Promise<TaskPreview>)
}
