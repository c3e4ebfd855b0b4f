/** What makes, changes and shows the tasks of one tenant, with the plugs that this tenant has. */
import type { Plug, Ports } from '#core'
import { followPlugs } from '#core/spi'
import { GraphForms } from './tasks/graph-forms.ts'
import type { TaskRef, TaskRunner } from './runner.ts'
import { SourceRepository } from './tasks/source-repository.ts'
import { TaskChanges } from './tasks/task-changes.ts'
import { TaskMaker } from './tasks/task-maker.ts'
import { TaskShow } from './tasks/task-show.ts'
import { countedByDocument, runsBySize, runsHere, type DirectRuns, type RunsElsewhere } from './tools/direct-runs.ts'
import type { RunDependencies } from './tools/template-run.ts'

export interface TenantRulesDependencies {
  /** the same list until they are others */
  readonly plugs: () => readonly Plug[]
  /** the same plugs for runs that store nothing */
  readonly directPlugs: () => readonly Plug[]
  /** long runs that store nothing, in other threads */
  readonly elsewhere: RunsElsewhere | undefined
  readonly ports: Ports
  readonly runner: TaskRunner
  /** epoch ms */
  readonly now: () => number
  /** told of every task that is gone */
  readonly removed: (task: TaskRef) => void
}

export class TenantRules {
  readonly sources: SourceRepository
  readonly maker: TaskMaker
  readonly changes: TaskChanges
  readonly forms: GraphForms
  readonly show: TaskShow
  readonly context: RunDependencies
  readonly direct: DirectRuns

  /** Throws `PLUG` when two of the plugs have one name and version. */
  constructor({ plugs, directPlugs, elsewhere, ports, runner, now, removed }: TenantRulesDependencies) {
    const registry = followPlugs(plugs)
    // now, and not in the middle of a request; the direct ones are the same, and many tenants never ask for them
    registry.list()
    this.sources = new SourceRepository(registry, now)
    this.maker = new TaskMaker(registry, this.sources, countedByDocument(elsewhere))
    this.changes = new TaskChanges(this.maker, this.sources, runner, now, removed)
    this.forms = new GraphForms(registry)
    this.show = new TaskShow(this.sources, this.forms, runner.nodes)
    this.context = { registry: followPlugs(directPlugs), ports, now }
    const here = runsHere(this.context)
    this.direct = elsewhere === undefined ? here : runsBySize(here, elsewhere)
  }
}
