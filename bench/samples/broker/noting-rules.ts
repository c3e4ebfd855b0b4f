/** The rules service as the host makes it, with one more plug. */
import { asyncScheduler } from 'rxjs'
import { createBuiltins } from '../../../plugins/index.ts'
import { enginePorts } from '../../../src/host/engine-ports.ts'
import { plugServices } from '../../../src/host/plug-services.ts'
import { hostedRules } from '../../../src/host/rules.ts'
import { SERVICES } from '../../../src/host/service-table.ts'
import type { MakeService, ServiceTable } from '../../../src/host/services.ts'
import type { Plug } from '../../../src/plug.ts'
import { openDurableRunner } from '../../../src/services/rules/durable/durable-runner.ts'
import { createRulesService } from '../../../src/services/rules/service.ts'
import { timeOrderedId } from '../../../src/host/time-ordered-id.ts'

/** as the host has it */
const REST_MS = 10

/** All services of the host, for one tenant. */
export function servicesWith(plug: Plug): ServiceTable {
  return new Map([...SERVICES, ['rules', rulesWith(plug)]])
}

function rulesWith(plug: Plug): MakeService {
  return ({ storage, gauges, now, peers, logger }) => {
    const known = [...createBuiltins({ services: plugServices('default', peers) }), plug]
    const plugs = (): readonly Plug[] => known
    const ports = (tenant: string) => enginePorts(tenant, peers)
    const runner = openDurableRunner({
      store: (tenant) => storage.tenant(tenant),
      plugs,
      ports,
      scheduler: asyncScheduler,
      restMs: REST_MS,
      timed: () => {
        const began = performance.now()
        return () => gauges.plugTook(performance.now() - began)
      },
      logger,
    })
    gauges.watchQueue('inputs', () => runner.queued)
    gauges.watchWork(() => runner.counts)
    const newId = () => timeOrderedId(now())
    const service = createRulesService({ storage, runner, plugs, ports, now, newId, logger })
    peers.rules = service
    peers.runner = runner
    return hostedRules(service, runner, gauges)
  }
}
