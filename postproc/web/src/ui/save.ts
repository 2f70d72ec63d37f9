// Saves a text as a file of the person at the browser. Nothing leaves the page.
export function saveText(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name.replace(/[^\w.-]+/g, '_').slice(0, 80);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
