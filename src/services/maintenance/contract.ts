/**
 * Contract of maintenance windows, which hold back alarms or pause tasks for a time; in process and over fetch
 * (`client.ts`).
 *
 * WINDOW-1 an alarm that is raised in a window is held back from its first moment; the window needs no further commit
 * WINDOW-2 what a window holds back or pauses is free again at its end, also after a crash
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `PRECONDITION`, `TOO_LARGE`.
 */
import type { Caller } from '#kernel'
import type { AlarmSuppressor } from '#services/alarms/contract'
import type { DocumentsApi } from '#services/shared/contract'
import type { MaintenanceWindow } from './window-schema.ts'

export type { MaintenanceWindow } from './window-schema.ts'

export interface MaintenanceService {
  as(caller: Caller): MaintenanceApi
}

export interface InternalMaintenance extends MaintenanceService, AlarmSuppressor {
  start(): Promise<void>
  stop(): Promise<void>
}

export type MaintenanceApi = DocumentsApi<MaintenanceWindow>
