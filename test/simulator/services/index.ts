/** Lists the services that the simulator knows. Add each new service here. */
import { alarms } from './alarms.ts'
import { alarmEvents } from './alarm-events.ts'
import { broker } from './broker.ts'
import { commands } from './commands.ts'
import { converters } from './converters.ts'
import { keys } from './keys.ts'
import { loops } from './loops.ts'
import { objectRules } from './object-rules.ts'
import { objects } from './objects.ts'
import { resources } from './resources.ts'
import { rules } from './rules.ts'
import { schedules } from './schedules.ts'
import { secrets } from './secrets.ts'
import { streams } from './streams.ts'
import { storedQueries } from './stored-queries.ts'
import { templates } from './templates.ts'
import { subscriptions } from './subscriptions.ts'
import { transfers } from './transfers.ts'
import { types } from './types.ts'
import type { SimulatedService } from './simulated-service.ts'

export const SIMULATED: readonly SimulatedService[] = [
  broker,
  rules,
  alarms,
  alarmEvents,
  commands,
  resources,
  templates,
  types,
  streams,
  converters,
  storedQueries,
  keys,
  objects,
  objectRules,
  subscriptions,
  transfers,
  secrets,
  schedules,
  loops,
]
