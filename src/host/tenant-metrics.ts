/** Defines metrics with the label `tenant`, and their number of tenants. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { ByTenant, TenantFigure } from './gauges.ts'

/** Tenants with a label of their own; the figures of later ones are added up under an empty label. */
export const LABELLED_TENANTS = 100

const FIGURES = {
  deliveries: {
    name: 'reflexarc_deliveries_total',
    help: 'Calls of asynchronous actuators by result; retried: failed calls that were followed by another',
    label: 'status',
    kind: Counter,
  },
  alarmFigures: {
    name: 'reflexarc_alarm_figures',
    help: 'Alarms that were announced in the last ten minutes, standing ones, and standing ones older than a day',
    label: 'figure',
    kind: Gauge,
  },
  alarms: { name: 'reflexarc_alarms_open', help: 'Alarms that are not cleared', label: 'severity', kind: Gauge },
} as const satisfies Record<TenantFigure, { name: string; help: string; label: string; kind: unknown }>

export function watchByTenant(
  registry: Registry,
  figure: TenantFigure,
  read: () => ByTenant | Promise<ByTenant>,
): void {
  const { name, help, label, kind } = FIGURES[figure]
  registry.registerMetric(
    new kind({
      name,
      help,
      labelNames: ['tenant', label],
      registers: [],
      async collect() {
        const found = await read()
        this.reset()
        for (const [tenant, values] of found) {
          for (const [value, count] of Object.entries(values)) this.inc({ tenant, [label]: value }, count)
        }
      },
    }),
  )
}
