/** The rules service as the host serves it. */
import { rulesErrorBody, rulesRoutes, type RulesRouting } from '#services/rules'
import type { RulesService } from '#services/rules/contract'
import { demoRules } from '../demo.ts'
import type { Gauges } from '../gauges.ts'
import type { HostedService } from '../hosted-service.ts'

/** What runs the tasks of the service, as far as its life is concerned. */
export interface RunningTasks {
  /** Finishes what is under way, and flushes. */
  close(): Promise<void>
  /** why it is not as well as it should be; undefined: it is */
  readonly trouble?: string | undefined
}

/** What else belongs to the service as it is served. */
export interface HostedRulesOptions {
  readonly warnings?: HostedService['warnings']
  readonly otherBatches?: RulesRouting['otherBatches']
}

/** The rules service as the host serves it, with what runs its tasks. */
export function hostedRules(
  service: RulesService,
  runner: RunningTasks,
  gauges: Gauges,
  { warnings, otherBatches }: HostedRulesOptions = {},
): HostedService {
  gauges.watchTasks(() => service.tasksByStatus())
  gauges.watchQueue('batches', () => service.gauges().openBatches)
  gauges.watchQueue('event-streams', () => service.gauges().eventStreams)
  return {
    name: 'rules',
    description: 'Tasks, templates, batch operations, and tools to look into them',
    example: '/api/tasks',
    errorBody: rulesErrorBody,
    demo: (tenant) => demoRules(service.as({ tenant, user: 'demo' })),
    routes: (app) => rulesRoutes(app, { service, otherBatches }),
    trouble: () => runner.trouble,
    ...(warnings && { warnings }),
    start: (closing) => service.start(closing),
    async stop() {
      await service.stop()
      await runner.close()
    },
  }
}
