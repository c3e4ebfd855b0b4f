/** The services that the simulator knows: a new one gets its line here. */
import { alarms } from './alarms.ts'
import { broker } from './broker.ts'
import { resources } from './resources.ts'
import { rules } from './rules.ts'
import type { SimulatedService } from './simulated-service.ts'

export const SIMULATED: readonly SimulatedService[] = [broker, rules, alarms, resources]
