/** What a host without bulk operations answers. */
import { AppError } from '#kernel'
import type { OperationApi } from './contract.ts'

/** Of a host that has no bulk operations. */
export function noOperations(): OperationApi {
  return {
    queue: async () => {
      throw new AppError('VALIDATION', 'bulk operations on resources are not served here')
    },
    get: async (id) => {
      throw new AppError('NOT_FOUND', `No operation with id ${id}`)
    },
  }
}
