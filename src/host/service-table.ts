import { makeAlarms } from './make-alarms.ts'
import { makeBroker } from './make-broker.ts'
import { makeResources } from './make-resources.ts'
import { makeRules } from './make-rules.ts'
import type { MakeService, ServiceTable } from './services.ts'

/** Every service of this host, by the name that `--only` takes. */
export const SERVICES: ServiceTable = new Map<string, MakeService>([
  ['rules', makeRules],
  ['resources', makeResources],
  ['broker', makeBroker],
  ['alarms', makeAlarms],
])
