/** What makes, changes and shows the tasks of one tenant, with the plugs that this tenant has. */
import type { Plug, Ports } from '#core'
import { followPlugs } from '#core/spi'
import { KeyedMutex, KeyedSharedLock, type Logger } from '#kernel'
import type { JobPlaces, JobQueue, JobRunner } from '#jobs'
import type { Store } from '#storage'
import { collectionsOf, type RulesCollections } from './collections.ts'
import type { RulesPartition } from './partitions/rules-partition.ts'
import { GraphForms } from './tasks/graph-forms.ts'
import type { TaskRunner } from './runner.ts'
import type { ResourceFinder } from './tasks/resource-filter.ts'
import { SourceRepository } from './tasks/source-repository.ts'
import { TaskChanges } from './tasks/task-changes.ts'
import type { TaskEventHistory } from './tasks/task-event-history.ts'
import { TaskMaker } from './tasks/task-maker.ts'
import { TaskShow } from './tasks/task-show.ts'
import { countedByDocument, runsBySize, runsHere, type DirectRuns, type RunsElsewhere } from './tools/direct-runs.ts'
import type { RunDependencies } from './tools/template-run.ts'

export interface RulesOptions {
  readonly tenant: string
  /** of jobs, which the tenants of a host share */
  readonly places?: JobPlaces
  readonly store: Store
  readonly runner: TaskRunner
  /** the plugs that rules may name; the same list until it changes */
  readonly plugs: () => readonly Plug[]
  /** the same plugs for runs that store nothing, which can wait where tasks must not; default `plugs` */
  readonly directPlugs?: () => readonly Plug[]
  /** where long runs that store nothing are done; default: here */
  readonly elsewhere?: RunsElsewhere
  /** what runs that store nothing may ask; the runner has its own */
  readonly ports?: Ports
  /** epoch ms */
  readonly now: () => number
  /** ids of tasks and batch operations; never the same twice */
  readonly newId: () => string
  readonly logger?: Logger
  /** which of several partitions of its tenants it has; absent: tenants have one */
  readonly partition?: RulesPartition | undefined
  /** who answers the filters `resourceType` and `resourceMetadataExpression`; asked at each use. Without, they are refused */
  readonly resources?: () => ResourceFinder | undefined
  /** called after a template was created, changed or removed; must not wait */
  readonly templateWritten?: (template: string) => void
  /** resolves when all messages posted before are in the series of the store */
  readonly readable?: () => Promise<void>
}

export class TenantRules {
  readonly collections: RulesCollections
  readonly options: RulesOptions
  readonly history: TaskEventHistory
  readonly sources: SourceRepository
  readonly maker: TaskMaker
  readonly changes: TaskChanges
  readonly forms: GraphForms
  readonly show: TaskShow
  readonly context: RunDependencies
  readonly direct: DirectRuns
  /** one change of a template at a time */
  readonly templateLanes = new KeyedMutex()
  /** by template: exclusive while it is deleted, so that no task is made of a deleted one */
  readonly templateLock = new KeyedSharedLock()
  readonly #jobs: JobRunner

  /** Throws `PLUG` when two of the plugs have one name and version. */
  constructor(options: RulesOptions, history: TaskEventHistory, jobs: JobRunner) {
    const { store, plugs, directPlugs = plugs, elsewhere, ports = {}, runner, now } = options
    const registry = followPlugs(plugs)
    // now, and not in the middle of a request; the direct ones are the same, and many tenants never ask for them
    registry.list()
    this.options = options
    this.history = history
    this.#jobs = jobs
    this.collections = collectionsOf(store)
    this.sources = new SourceRepository(this.collections, registry, now)
    this.maker = new TaskMaker(registry, this.sources, countedByDocument(elsewhere))
    this.changes = new TaskChanges(this.collections, this.maker, this.sources, runner, now, (id) => history.forget(id))
    this.forms = new GraphForms(registry)
    this.show = new TaskShow(this.sources, this.forms, runner.nodes)
    this.context = { registry: followPlugs(directPlugs), ports, now }
    const here = runsHere(this.context)
    this.direct = elsewhere === undefined ? here : runsBySize(here, elsewhere)
  }

  get jobs(): JobQueue {
    return this.#jobs.queue
  }
}
