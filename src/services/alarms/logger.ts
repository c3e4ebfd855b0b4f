/** Where the service says what nobody asked for. */
export interface AlarmsLogger {
  warn(message: string): void
  error(message: string): void
}
