/** Lists the services that a host can serve. */
import { makeAudit } from './make-audit.ts'
import { makeAlarms } from './make-alarms.ts'
import { makeAssistants } from './make-assistants.ts'
import { makeBroker } from './make-broker.ts'
import { makeCalendars } from './make-calendars.ts'
import { makeConnectors } from './make-connectors.ts'
import { makeFunctions } from './make-functions.ts'
import { makeConverter } from './make-converter.ts'
import { makeMaintenance } from './make-maintenance.ts'
import { makeModels } from './make-models.ts'
import { makeNotification } from './make-notification.ts'
import { makeObjects } from './make-objects.ts'
import { makePrometheus } from './make-prometheus.ts'
import { makeQueries } from './make-queries.ts'
import { makeResources } from './make-resources.ts'
import { makeRetention } from './make-retention.ts'
import { makeRules } from './make-rules.ts'
import { makeSubscriptions } from './make-subscriptions.ts'
import { makeVault } from './make-vault.ts'
import { makeWebscripts } from './make-webscripts.ts'
import type { MakeService, ServiceTable } from './service-dependencies.ts'

/**
 * All services by their names in `--only`. Broker, functions and models start before rules, since recovered tasks may
 * use them at once. Connectors start last, and stop first.
 */
export const SERVICES: ServiceTable = new Map<string, MakeService>([
  ['retention', makeRetention],
  ['broker', makeBroker],
  ['vault', makeVault],
  ['functions', makeFunctions],
  ['webscripts', makeWebscripts],
  ['models', makeModels],
  ['rules', makeRules],
  ['resources', makeResources],
  ['calendars', makeCalendars],
  ['maintenance', makeMaintenance],
  ['alarms', makeAlarms],
  ['converter', makeConverter],
  ['queries', makeQueries],
  ['prometheus', makePrometheus],
  ['objects', makeObjects],
  ['subscriptions', makeSubscriptions],
  ['audit', makeAudit],
  ['assistants', makeAssistants],
  ['notification', makeNotification],
  ['connectors', makeConnectors],
])
