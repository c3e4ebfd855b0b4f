/** What the routes of webscripts go by. */
import type { CheckPair } from '../admission.ts'
import type { WebscriptsService } from '../contract.ts'

/** What every address of the service begins with. */
export const BASE = '/api/v1'

export interface WebscriptsRouting {
  readonly service: WebscriptsService
  readonly checkPair: CheckPair
}
