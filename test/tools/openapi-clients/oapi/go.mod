module oapi

go 1.26
