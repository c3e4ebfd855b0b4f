/** What all routes of the service share: what a request says, and how a route is described. */
import { asking, describing } from '#services/shared'
import { ErrorSchema } from '../alarm-schema.ts'
import type { AlarmQuery, AlarmsApi } from '../contract.ts'

export const handle = asking<AlarmsApi, AlarmQuery>((query) => query as AlarmQuery)
export const described = describing('alarms', ErrorSchema)
