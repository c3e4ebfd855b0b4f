/**
 * Imports and exports as others see them: files become series, and series files, as jobs that survive a crash.
 *
 * IMPORT-1 a line of a file is in series, or in the report with what is wrong with it; whatever happens meanwhile
 * IMPORT-2 a sample is never there twice, and the counts of a report are those of one reading
 * IMPORT-3 memory does not grow with the file
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `CLOSED`.
 */
import type { ExportInfo, ImportInfo, TransferQuery } from './transfer-schema.ts'

export interface TransfersApi {
  /** Newest first. */
  imports(query?: TransferQuery): Promise<readonly ImportInfo[]>
  import(id: string): Promise<ImportInfo>
  /** Of an `ExportRequest`, or any other JSON: it is queued. */
  startExport(body: unknown): Promise<ExportInfo>
  exports(query?: TransferQuery): Promise<readonly ExportInfo[]>
  export(id: string): Promise<ExportInfo>
}
