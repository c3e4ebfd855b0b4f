/** x */
import { Answer } from '../parts/layout.tsx'
export function Data() {
  return <Answer title="Data" />
}
