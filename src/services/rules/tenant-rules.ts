/** Holds the parts of the rules service that make, change and show the tasks of one tenant. */
import type { Plug, Ports } from '#core'
import { followPlugs } from '#core/spi'
import { KeyedMutex, KeyedSharedLock, type Logger } from '#kernel'
import type { JobSlots, JobQueue, JobRunner } from '#jobs'
import type { Store } from '#storage'
import { collectionsOf, type RulesCollections } from './collections.ts'
import type { KeptPast } from './inputs/contract.ts'
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
  readonly places?: JobSlots
  readonly store: Store
  readonly runner: TaskRunner
  /** returns undefined if no inputs are kept */
  readonly kept?: () => KeptPast | undefined
  /** returns the plugs that rules may name; the same array until they change */
  readonly plugs: () => readonly Plug[]
  /** the same plugs for runs that store nothing, where plugs may wait longer than in tasks; default `plugs` */
  readonly directPlugs?: () => readonly Plug[]
  /** threads for long runs that store nothing; default: the current thread */
  readonly elsewhere?: RunsElsewhere
  readonly ports?: Ports
  /** epoch ms */
  readonly now: () => number
  readonly newId: () => string
  readonly logger?: Logger
  /** called on each use; if absent, the filters `resourceType` and `resourceMetadataExpression` are rejected */
  readonly resources?: () => ResourceFinder | undefined
  /** called after a template was created, changed or removed; must not wait */
  readonly templateWritten?: (template: string) => void
  /** resolves once all earlier posts can be read from series */
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
  readonly templateLanes = new KeyedMutex()
  /** per template: held exclusively during deletion, so that no task is made from a deleted template */
  readonly templateLock = new KeyedSharedLock()
  readonly #jobs: JobRunner
  /** called after a change of a task; must return at once */
  taskChanged: (task: string) => void = () => undefined
  templateRemoved: (template: string) => void = () => undefined

  constructor(options: RulesOptions, history: TaskEventHistory, jobs: JobRunner) {
    const { store, plugs, directPlugs = plugs, elsewhere, ports = {}, runner, now } = options
    const registry = followPlugs(plugs)
    // fails now rather than during a request; the registry of direct plugs stays lazy, since many tenants never use it
    registry.list()
    this.options = options
    this.history = history
    this.#jobs = jobs
    this.collections = collectionsOf(store)
    this.sources = new SourceRepository(this.collections, registry, now)
    this.maker = new TaskMaker(registry, this.sources, countedByDocument(elsewhere))
    this.changes = new TaskChanges(
      this.collections,
      this.maker,
      this.sources,
      runner,
      now,
      (id) => history.forget(id),
      (id) => this.taskChanged(id),
    )
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
