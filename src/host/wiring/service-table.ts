/** The table of the services that a host can serve. */
import { makeAlarms } from './make-alarms.ts'
import { makeBroker } from './make-broker.ts'
import { makeFunctions } from './make-functions.ts'
import { makeConverter } from './make-converter.ts'
import { makeModels } from './make-models.ts'
import { makeObjects } from './make-objects.ts'
import { makeQueries } from './make-queries.ts'
import { makeResources } from './make-resources.ts'
import { makeRules } from './make-rules.ts'
import { makeSubscriptions } from './make-subscriptions.ts'
import { makeVault } from './make-vault.ts'
import { makeWebscripts } from './make-webscripts.ts'
import type { MakeService, ServiceTable } from './service-dependencies.ts'

/**
 * Every service of this host, by the name that `--only` takes. The broker starts first: tasks that go on may ask at once
 * for what was acknowledged before. So do functions and models: tasks that go on may use the plugs of their tenant.
 */
export const SERVICES: ServiceTable = new Map<string, MakeService>([
  ['broker', makeBroker],
  ['vault', makeVault],
  ['functions', makeFunctions],
  ['webscripts', makeWebscripts],
  ['models', makeModels],
  ['rules', makeRules],
  ['resources', makeResources],
  ['alarms', makeAlarms],
  ['converter', makeConverter],
  ['queries', makeQueries],
  ['objects', makeObjects],
  ['subscriptions', makeSubscriptions],
])
