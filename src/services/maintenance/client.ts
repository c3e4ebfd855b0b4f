/** Typed client of maintenance windows over fetch, with the same contract. */
import { documentsClient, type Http } from '#services/shared/client'
import type { MaintenanceApi, MaintenanceWindow } from './contract.ts'

export function maintenanceClient(http: Http): MaintenanceApi {
  return documentsClient<MaintenanceWindow>(http, '/alarm/windows', 'windows')
}
