/** Creates the converter service of a host. */
import { converterErrorBody, converterRoutes, ConverterService } from '#services/converter'
import { machineTimers } from '#platform'
import { parseRendered } from '#services/shared'
import type { Converted } from '#services/converter/contract'
import { Conversions, type ConversionsElsewhere } from '#services/converter/conversion'
import type { WorkThreads } from '../work/work-threads.ts'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

export const makeConverter: MakeService = ({ figures, now, tenants, threads }) => {
  figures.total('converter-forwarded', ({ converter }) => converter?.gauges().converted)
  figures.total('converter-rejected', ({ converter }) => converter?.gauges().rejected)
  const conversions = new Conversions(now)
  const elsewhere = threadedConversions(threads)
  return {
    name: 'converter',
    description: 'Templates that convert payloads of devices and gateways to messages',
    example: '/converter/',
    errorBody: converterErrorBody,
    routes: (app) => converterRoutes(app, { service: ofCaller(tenants, ({ converter }) => converter) }),
    open: ({ tenant, store, services }) => {
      const converter = new ConverterService({
        tenant,
        store,
        conversions,
        now,
        newId: machineTimers.newId,
        elsewhere,
        broker: () => services.broker,
        resources: () => services.resources,
      })
      return { provides: { converter } }
    },
  }
}

/** Time limit in ms; a rendering stops by itself long before */
const LONGEST_MS = 10_000

function threadedConversions(threads: WorkThreads): ConversionsElsewhere {
  const converted = async (tenant: string, name: 'convert' | 'test', input: object): Promise<Converted> => {
    const text = await threads.do({ tenant, name, input, limitMs: LONGEST_MS })
    return parseRendered(text as string) as Converted
  }
  return {
    convert: (tenant, input) => converted(tenant, 'convert', input),
    test: (tenant, text) => converted(tenant, 'test', { text }),
    prepare: async (tenant, input) => void (await threads.do({ tenant, name: 'prepare', input, limitMs: LONGEST_MS })),
  }
}
